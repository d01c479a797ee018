"""The closed lists of the mention rules.

Words of a list are forms or lemmas: a token is on the list if either is. Expressions
are segments with spaces between them (``"ב סך הכל"``), as the tokens of a Doc. The
lists were written by hand from the guidelines, the grammar and the errors of the
rules on KibutzR train.
"""

from typing import FrozenSet, NamedTuple


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


def _lines(text: str) -> FrozenSet[str]:
    return frozenset(line.strip() for line in text.splitlines() if line.strip())


class Lexicon(NamedTuple):
    """The closed lists that the rules use.

    time_and_place (FrozenSet[str]): Adverbs of a defined time or place.
    vague_time_and_place (FrozenSet[str]): More of them, which annotators left out as
        often as not.
    quantifiers (FrozenSet[str]): What counts or measures and belongs to the phrase.
    partitives (FrozenSet[str]): Quantifiers that leave a phrase of its own (כל
        **הילדים**).
    preposition_nouns (FrozenSet[str]): Nouns that begin a long preposition but also
        head a phrase (ב**מהלך הדיון**).
    attributes (FrozenSet[str]): Nouns that only add an attribute (בן 20).
    classifiers (FrozenSet[str]): Heads of construct states whose second noun says
        what kind of thing it is, or what it is called (בית המשפט, חברת אלון).
    institutions (FrozenSet[str]): Heads of names of institutions (משרד התעשייה
        והמסחר).
    relations (FrozenSet[str]): Heads of construct states whose second noun is
        somebody or something in the text (יו"ר ה ועדה).
    months (FrozenSet[str]): Names of months, which a year may follow.
    scalar_adverbs (FrozenSet[str]): Adverbs after a noun that modify the clause.
    negations (FrozenSet[str]): Words before a phrase that refers to nothing.
    idioms (FrozenSet[str]): Expressions that are no mentions, nor are their parts.
    fixed_pairs (FrozenSet[str]): Coordinations that are one word in meaning.
    """

    time_and_place: FrozenSet[str] = _words(
        """
        אתמול שלשום אמש היום מחר מחרתיים הערב הבוקר הלילה השבוע החודש השנה העונה
        השבת אשתקד אז עתה באחרונה למחרת
        שם פה כאן ימינה שמאלה הביתה ארצה צפונה דרומה מזרחה מערבה
        """
    )
    vague_time_and_place: FrozenSet[str] = _words(
        """
        עכשיו כעת כיום פעם הפעם לאחרונה לעתים למעלה למטה קדימה אחורה החוצה פנימה
        הצידה
        """
    )
    quantifiers: FrozenSet[str] = _words(
        """
        כל כול כמה רוב מרבית מספר הרבה חלק שאר יתר מעט קצת מדי רב מקצת אחדים מיעוט
        מחצית חצי שליש רבע עשרות מאות אלפי רבבות המון מרב מירב
        """
    )
    partitives: FrozenSet[str] = _words(
        "כל כול רוב מרבית חלק מקצת אחדים מיעוט מחצית שליש רבע"
    )
    preposition_nouns: FrozenSet[str] = _words("מהלך השוואה רקע העדר היעדר")
    attributes: FrozenSet[str] = _words("בן בת בעל")
    classifiers: FrozenSet[str] = _words(
        """
        בית משרד ראש חברה מועצה סוף קרן יום כתב שכר מטה מרכז תוכנית מעשה לשכה מכון
        סכום ארץ מלחמה מפלגה נשיא סדר התאחדות תחום נבחרת מערכת גביע ארגון אזור כושר
        אתר כוח מסך משחק הסכם מדיניות ועדה שיעור סוג שדולה מעצמה שער הר צוות
        שוק רמה סיעה ענף תיאטרון מדד דו"ח תחנה מחנה בנק חדר כלי עיר עיירה קו גל אגף
        רשות חנות שדה חומר בניין
        מדינה תנועה חודש רחוב שכונה כיכר שדרה סוכנות רצועה נפה אליפות יבשת קריה
        קיבוץ מושב כפר אוניברסיטה עיתון הוצאה סרט ספר להקה רשת
        """
    )
    institutions: FrozenSet[str] = _words("משרד שר ועדה מינהל לשכה אגף")
    relations: FrozenSet[str] = _words(
        """
        יו"ר מנכ"ל חבר מזכיר נציג דובר תושב עובד שחקן מחיר תוצאה סיום תחילה
        ביצוע אישור פיקוח קליטה הנהלה פרקליטות תהליך טיב מצב פתח שול עניין דבר
        חתן שחרור גירוש חיזוק עידוד סיכום מכירה קביעה בדיקה שחיקה כניסה
        """
    )
    months: FrozenSet[str] = _words(
        """
        ינואר פברואר מרס מארס מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר
        דצמבר
        """
    )
    scalar_adverbs: FrozenSet[str] = _words(
        "יחד ביחד למשל כביכול שוב אפוא איפוא אחרת אמנם לבדו לבד גם כמובן כיום"
    )
    negations: FrozenSet[str] = _words("ללא בלי אין שום אף")
    idioms: FrozenSet[str] = _lines(
        """
        אחר כך
        אחר - כך
        לאחר מ כן
        לפני כן
        כמו כן
        יתר על כן
        יתר על ה מידה
        אף על פי כן
        לעומת זאת
        במקום זאת
        ב כל זאת
        זאת ו עוד
        מ כל מקום
        ב סך הכל
        ב סך ה כל
        כ כלות הכל
        לפי שעה
        פה אחד
        ללא ספק
        אין ספק
        אין כל ספק
        ב חזרה
        מ נגד
        ל אור
        על תנאי
        על פי
        על - פי
        על ידי
        על - ידי
        זה את זה
        זה על זה
        זה עם זה
        זה אחר זה
        ב זה אחר זה
        פה ו שם
        כך ש
        """
    )
    fixed_pairs: FrozenSet[str] = _lines(
        """
        משא ו מתן
        תוהו ו בוהו
        שתי ו ערב
        דין ו חשבון
        """
    )
