"""Coreference files of all kinds, read into records.

* ``conll2012``: CoNLL-2012, the column format of most scorers.
* ``kibutzr``: KibutzR's five columns, a document a file.
* ``corefud``: CoNLL-U with the mentions of CorefUD 1.x in MISC.
* ``lingmess``: JSON lines of LingMess and s2e (``doc_key``, ``sentences``,
  ``clusters``); ``lingmess-inclusive`` and ``lingmess-exclusive`` say whether the
  second number of a mention is its last token or the one after it.
* ``wl-coref``: JSON lines of wl-coref (``document_id``, ``cased_words``,
  ``span_clusters`` or ``clusters``).
* ``jsonl``: JSON lines of ``{"doc": ..., "clusters": [[[first, last], ...], ...]}``.
"""
