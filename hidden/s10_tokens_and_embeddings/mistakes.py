"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from grader.course.answers import mistake
from hidden.s10_tokens_and_embeddings.solution import (
    _ids,
    _merged,
    _targets,
    bpe_decode,
    bpe_encode,
    build_vocabulary,
    byte_pair_merges,
    decode,
    embedding_backward,
    embedding_forward,
    encode,
    nearest_neighbors,
    negative_sampling_loss,
    skip_gram_pairs,
)


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="The tokens were numbered in alphabetical order, whatever their counts.",
    fix="Sort by falling count first; the letters decide only between tokens of equal count.",
)
def vocabulary_in_alphabetical_order(tokens, min_count=1, right=build_vocabulary):
    kept = [token for token in right(tokens, min_count) if token != "<unk>"]
    return {token: index for index, token in enumerate(["<unk>", *sorted(kept)])}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="The tokens were numbered in the order in which the text first has them.",
    fix="Sort them by falling count, and those of equal count in the order of strings.",
)
def vocabulary_in_order_of_appearance(tokens, min_count=1, right=build_vocabulary):
    kept = right(tokens, min_count)
    seen = [token for token in dict.fromkeys(tokens) if token in kept and token != "<unk>"]
    return {token: index for index, token in enumerate(["<unk>", *seen])}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="Tokens of equal count stand in the order of the text, as Counter.most_common leaves them.",
    fix="Sort with the key (-count, token), so that the token decides between equal counts.",
)
def ties_in_order_of_appearance(tokens, min_count=1, right=build_vocabulary):
    right([], min_count)
    kept = [token for token, n in Counter(tokens).most_common() if n >= min_count and token != "<unk>"]
    return {token: index for index, token in enumerate(["<unk>", *kept])}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="The rarest token got id 1 and the most frequent one the last id.",
    fix="Sort by falling count: put a minus sign in front of it. reverse=True would turn the letters round too.",
)
def rarest_tokens_first(tokens, min_count=1, right=build_vocabulary):
    counts, kept = Counter(tokens), [token for token in right(tokens, min_count) if token != "<unk>"]
    kept.sort(key=lambda token: (counts[token], token))
    return {token: index for index, token in enumerate(["<unk>", *kept])}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="Tokens of equal count stand in the reverse order of strings, as reverse=True leaves them.",
    fix="Sort with the key (-count, token), without reverse=True, which turns the order of the tokens round too.",
)
def ties_in_reverse_order(tokens, min_count=1, right=build_vocabulary):
    counts, kept = Counter(tokens), [token for token in right(tokens, min_count) if token != "<unk>"]
    kept.sort(key=lambda token: (counts[token], token), reverse=True)
    return {token: index for index, token in enumerate(["<unk>", *kept])}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text="Tokens that occur exactly min_count times were left out.",
    fix="min_count is the least count that is kept: compare with >=.",
)
def least_count_left_out(tokens, min_count=1, right=build_vocabulary):
    right([], min_count)
    return right(tokens, min_count + 1)


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text='There is no "<unk>" in the vocabulary, so that the ids begin with the most frequent token.',
    fix='Put "<unk>" in front of the sorted tokens before you number them.',
)
def no_place_for_unknown_tokens(tokens, min_count=1, right=build_vocabulary):
    return {token: index - 1 for token, index in right(tokens, min_count).items() if token != "<unk>"}


@mistake(
    criterion="build-vocabulary",
    replaces="build_vocabulary",
    text='"<unk>" got the last id instead of 0.',
    fix='Number the list ["<unk>", *sorted tokens] from 0.',
)
def unknown_token_at_the_end(tokens, min_count=1, right=build_vocabulary):
    vocabulary = right(tokens, min_count)
    return {token: index - 1 if index else len(vocabulary) - 1 for token, index in vocabulary.items()}


@mistake(
    criterion="encode",
    replaces="encode",
    text="Tokens that the vocabulary does not have were left out, and the text became shorter.",
    fix='Give them the id of "<unk>", so that there is one id for each token.',
)
def unknown_tokens_dropped(tokens, vocabulary):
    return np.array([vocabulary[token] for token in tokens if token in vocabulary], dtype=np.int64)


@mistake(
    criterion="encode",
    replaces="encode",
    text="Unknown tokens got the id 0, which in this vocabulary belongs to another token.",
    fix='Look the id of "<unk>" up in the vocabulary that was given.',
)
def unknown_tokens_get_zero(tokens, vocabulary):
    return np.array([vocabulary.get(token, 0) for token in tokens], dtype=np.int64)


@mistake(
    criterion="encode",
    replaces="encode",
    text="Unknown tokens got the id -1, which reads the last row of an embedding table later on.",
    fix='Give them the id of "<unk>".',
)
def unknown_tokens_get_minus_one(tokens, vocabulary):
    return np.array([vocabulary.get(token, -1) for token in tokens], dtype=np.int64)


@mistake(
    criterion="encode",
    replaces="encode",
    text="A token that the vocabulary does not have raised a KeyError.",
    fix='Ask with vocabulary.get and the id of "<unk>"; where that is missing too, raise ValueError.',
)
def unknown_tokens_raise_key_error(tokens, vocabulary):
    return np.array([vocabulary[token] for token in tokens], dtype=np.int64)


@mistake(
    criterion="encode",
    replaces="encode",
    text="For no tokens the dtype was left to NumPy, which makes an array of floats of an empty list.",
    fix="Name the dtype: np.array(ids, dtype=np.int64).",
)
def no_tokens_give_floats(tokens, vocabulary, right=encode):
    ids = right(tokens, vocabulary)
    return np.array(ids.tolist())


@mistake(
    criterion="decode",
    replaces="decode",
    text="The tokens were joined into one string.",
    fix="Return the list of tokens; what stands between them is not known here.",
)
def tokens_joined(ids, vocabulary, right=decode):
    return " ".join(right(ids, vocabulary))


@mistake(
    criterion="decode",
    replaces="decode",
    text="A negative id took a token from the end of the list.",
    fix="Raise ValueError for ids that belong to no token; a dict from id to token has no negative ones.",
)
def negative_ids_count_from_the_end(ids, vocabulary, right=decode):
    return right([index + len(vocabulary) if -len(vocabulary) <= index < 0 else index for index in ids], vocabulary)


@mistake(
    criterion="decode",
    replaces="decode",
    text="The ids were taken as places in the order of the dict, and not as the numbers that stand in it.",
    fix="Exchange keys and values of the vocabulary and look the ids up in that.",
)
def order_of_the_dict_for_ids(ids, vocabulary, right=decode):
    return right(ids, {token: index for index, token in enumerate(vocabulary)})


@mistake(
    criterion="decode",
    replaces="decode",
    text='An id that belongs to no token became "<unk>".',
    fix='Raise ValueError for it: "<unk>" has an id of its own, and any other one is an error of the caller.',
)
def ids_of_no_token_become_unknown(ids, vocabulary):
    tokens = {index: token for token, index in vocabulary.items()}
    return [tokens.get(index, "<unk>") for index in ids]


@mistake(
    criterion="decode",
    replaces="decode",
    text='The places with "<unk>" were left out.',
    fix='Return one token for each id, "<unk>" as well.',
)
def unknown_places_left_out(ids, vocabulary, right=decode):
    return [token for token in right(ids, vocabulary) if token != "<unk>"]


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="The text was cut at its spaces first: no pair with a space in it was counted, and none was merged.",
    fix="Count the pairs of all bytes of the text. Real tokenizers cut it into words first; this stage does not.",
)
def bpm_splits_at_spaces(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    words, merges = [list(word.encode("utf-8")) for word in text.split(" ")], []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if counts[best] < 2:
            break
        words = [_merged(word, best, new_id) for word in words]
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="Of equally frequent pairs the largest was taken.",
    fix="Take the smallest one: min with the key (-count, pair) instead of max with (count, pair).",
)
def largest_of_equal_pairs(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if counts[best] < 2:
            break
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="Of equally frequent pairs the one that stands first in the text was taken.",
    fix="Take the smallest pair, by the key (-count, pair); max with the count alone keeps the first that it meets.",
)
def first_of_equal_pairs(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        best = max(counts, key=lambda pair: counts[pair], default=None)
        if counts[best] < 2:
            break
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="Equally frequent pairs were compared by their second id.",
    fix="Compare the pairs as they are, by the first id and then by the second: the key (-count, pair).",
)
def equal_pairs_by_their_second_id(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        best = min(counts, key=lambda pair: (-counts[pair], pair[::-1]), default=None)
        if counts[best] < 2:
            break
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="A pair at the very end of the ids was not replaced.",
    fix="The last pair begins at len(ids) - 2: go on while i + 1 < len(ids).",
)
def pair_at_the_end_left(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if counts[best] < 2:
            break
        replaced = _merged(ids, best, new_id)
        at_the_end = replaced[-1] == new_id
        ids = replaced[:-1] + list(best) if at_the_end else replaced
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="The pairs are made of characters (code points) instead of bytes.",
    fix='Start from list(text.encode("utf-8")): a letter such as an umlaut is two bytes there, and no id is above 255.',
)
def characters_merged(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(map(ord, text)), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if counts[best] < 2:
            break
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="The pairs were counted once, at the start: no pair contains a merged id.",
    fix="Replace the best pair in the ids, and count again in what is left, at each step.",
)
def pairs_counted_once(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids = list(text.encode("utf-8"))
    counts = Counter(pairwise(ids))
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [pair for pair in ranked[:num_merges] if counts[pair] >= 2]


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text="Pairs that occur only once were merged, too.",
    fix="Stop as soon as the best pair occurs fewer than two times.",
)
def pairs_that_occur_once_merged(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pairwise(ids))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="byte-pair-merges",
    replaces="byte_pair_merges",
    text='Overlapping pairs were not counted, so that "aaa" has the pair (a, a) once.',
    fix="Count all neighbours, zip(ids, ids[1:]); only the replacement may not overlap.",
)
def overlapping_pairs_not_counted(text, num_merges, right=byte_pair_merges):
    right("", num_merges)
    ids, merges = list(text.encode("utf-8")), []
    for new_id in range(256, 256 + num_merges):
        counts = {pair: len(ids) - len(_merged(ids, pair, new_id)) for pair in pairwise(ids)}
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        ids = _merged(ids, best, new_id)
        merges.append(best)
    return merges


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="The merges were applied from the last one to the first.",
    fix="Apply them in the order in which they were learnt: later pairs are made of what earlier ones produce.",
)
def last_merge_first(text, merges):
    ids = list(text.encode("utf-8"))
    for number in reversed(range(len(merges))):
        ids = _merged(ids, merges[number], 256 + number)
    return np.array(ids, dtype=np.int64)


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="Each merge replaced only the first occurrence of its pair.",
    fix="Go on to the end of the text before the next merge begins.",
)
def first_occurrence_only(text, merges):
    ids = list(text.encode("utf-8"))
    for new_id, pair in enumerate(merges, start=256):
        here = [place for place in range(len(ids) - 1) if tuple(ids[place : place + 2]) == tuple(pair)]
        if here:
            ids[here[0] : here[0] + 2] = [new_id]
    return np.array(ids, dtype=np.int64)


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="Runs were merged from the right: three equal ids leave the first of them alone.",
    fix="Walk from left to right, and step over a pair that was taken.",
)
def merged_from_the_right(text, merges):
    ids = list(text.encode("utf-8"))[::-1]
    for new_id, (left, right) in enumerate(merges, start=256):
        ids = _merged(ids, (right, left), new_id)
    return np.array(ids[::-1], dtype=np.int64)


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="The longest token that fits was taken at each place, from left to right.",
    fix="The order of the merges decides, not the length: apply the first one to the whole text, then the second.",
)
def longest_token_first(text, merges):
    pieces = [bytes([value]) for value in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    rest, ids = text.encode("utf-8"), []
    while rest:
        best = max(
            (index for index in range(len(pieces)) if rest.startswith(pieces[index])), key=lambda i: len(pieces[i])
        )
        ids.append(best)
        rest = rest[len(pieces[best]) :]
    return np.array(ids, dtype=np.int64)


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="The merges were learnt anew from this text instead of being applied.",
    fix="Use the merges that were given: ids mean the same in every text only then.",
)
def merges_learnt_anew(text, merges, right=bpe_encode):
    return right(text, byte_pair_merges(text, len(merges)))


@mistake(
    criterion="bpe-encode",
    replaces="bpe_encode",
    text="The text was cut into characters (code points) instead of bytes.",
    fix='Start from list(text.encode("utf-8")).',
)
def characters_encoded(text, merges):
    ids = list(map(ord, text))
    for new_id, pair in enumerate(merges, start=256):
        ids = _merged(ids, pair, new_id)
    return np.array(ids, dtype=np.int64)


@mistake(
    criterion="bpe-decode",
    replaces="bpe_decode",
    text="Each id was decoded by itself, so that a character that is spread over several ids is lost.",
    fix="Join the bytes of all ids first, and decode them once.",
)
def ids_decoded_one_by_one(ids, merges, right=bpe_decode):
    return "".join(right([index], merges) for index in ids)


@mistake(
    criterion="bpe-decode",
    replaces="bpe_decode",
    text="Each byte was taken as a character of its own.",
    fix='Join the bytes and decode them as UTF-8: joined.decode("utf-8", errors="replace").',
)
def bytes_as_characters(ids, merges, right=bpe_decode):
    right(ids, merges)
    pieces = [chr(value) for value in range(256)]
    for left, other in merges:
        pieces.append(pieces[left] + pieces[other])
    return "".join(pieces[index] for index in ids)


@mistake(
    criterion="bpe-decode",
    replaces="bpe_decode",
    text="Bytes that are no UTF-8 were left out.",
    fix='Decode with errors="replace", which puts U+FFFD in their place, so that the damage can be seen.',
)
def broken_bytes_ignored(ids, merges, right=bpe_decode):
    right(ids, merges)
    pieces = [bytes([value]) for value in range(256)]
    for left, other in merges:
        pieces.append(pieces[left] + pieces[other])
    return b"".join(pieces[index] for index in ids).decode("utf-8", errors="ignore")


@mistake(
    criterion="bpe-decode",
    replaces="bpe_decode",
    text="The right part of each merge was put in front of its left part.",
    fix="The bytes of a merged id are those of the left part, then those of the right part.",
)
def parts_exchanged(ids, merges, right=bpe_decode):
    return right(ids, [(other, left) for left, other in merges])


@mistake(
    criterion="bpe-decode",
    replaces="bpe_decode",
    text="A negative id was counted from the end of the merges.",
    fix="Raise ValueError unless 0 <= id < 256 + len(merges).",
)
def negative_ids_from_the_end(ids, merges, right=bpe_decode):
    size = 256 + len(merges)
    return right([index + size if -size <= index < 0 else index for index in ids], merges)


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="A negative id read a row from the end of the table.",
    fix="Raise ValueError for ids below 0 before you index.",
)
def negative_ids_read_the_end(ids, table, right=embedding_forward):
    return right(np.where((ids < 0) & (ids >= -len(table)), ids + len(table), ids), table)


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="The ids were not checked: -1 reads the last row, one that is too large raises IndexError, booleans select.",
    fix="Before table[ids], raise ValueError unless table has two axes and ids are integers from 0 to len(table) - 1.",
)
def looked_up_without_a_check(ids, table):
    return table[ids]


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="An id beyond the last row reached the indexing, which raised IndexError.",
    fix="Raise ValueError for it: the largest id is len(table) - 1, so ids >= len(table) are refused.",
)
def ids_beyond_the_last_row(ids, table, right=embedding_forward):
    right(np.where(ids >= len(table), 0, ids).astype(ids.dtype), table)
    return table[ids]


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="Ids outside of the table were moved to its first or last row.",
    fix="Raise ValueError for them; a wrong id is an error, and no other word will do.",
)
def ids_clipped(ids, table, right=embedding_forward):
    return right(np.clip(ids, 0, len(table) - 1), table)


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="The ids picked columns of the table.",
    fix="A token's vector is a row: table[ids], or table[ids, :].",
)
def columns_instead_of_rows(ids, table):
    return table.T[ids]


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="The axes of ids became one: the vectors of all texts stand below each other.",
    fix="Keep the shape of ids and add one axis at the end; indexing with the array as it is does that.",
)
def shape_of_ids_lost(ids, table, right=embedding_forward):
    return right(np.reshape(ids, -1), table)


@mistake(
    criterion="embedding-forward",
    replaces="embedding_forward",
    text="Ids that are no integers were turned into integers.",
    fix="Raise ValueError for floats and booleans: np.issubdtype(ids.dtype, np.integer) tells them apart.",
)
def other_numbers_made_integers(ids, table, right=embedding_forward):
    return right(ids.astype(int), table)


@mistake(
    criterion="embedding-backward",
    replaces="embedding_backward",
    text="Of an id that occurs several times only the last gradient was kept.",
    fix="grad[ids] = g and grad[ids] += g write each row once. Use np.add.at(grad, ids, g), or a loop that adds.",
)
def last_gradient_wins(grad_output, ids, num_embeddings, right=embedding_backward):
    grad_table = np.zeros_like(right(grad_output, ids, num_embeddings))
    grad_table[ids] = grad_output
    return grad_table


@mistake(
    criterion="embedding-backward",
    replaces="embedding_backward",
    text="The gradients of an id that occurs several times were averaged.",
    fix="Add them up: each occurrence changes the loss by itself.",
)
def gradients_averaged(grad_output, ids, num_embeddings, right=embedding_backward):
    counts = np.bincount(np.ravel(ids), minlength=num_embeddings)[:, None]
    return right(grad_output, ids, num_embeddings) / np.maximum(counts, 1).astype(grad_output.dtype)


@mistake(
    criterion="embedding-backward",
    replaces="embedding_backward",
    text="The gradient has rows only up to the largest id that occurs.",
    fix="Give it num_embeddings rows, the size of the table; rows that were not used stay zero.",
)
def rows_up_to_the_largest_id(grad_output, ids, num_embeddings, right=embedding_backward):
    return right(grad_output, ids, num_embeddings)[: np.max(ids, initial=-1) + 1]


@mistake(
    criterion="embedding-backward",
    replaces="embedding_backward",
    text="The gradient holds only the rows of ids that occur.",
    fix="Give it num_embeddings rows, with zeros for the others.",
)
def rows_of_present_ids_only(grad_output, ids, num_embeddings, right=embedding_backward):
    return right(grad_output, ids, num_embeddings)[np.unique(ids)]


@mistake(
    criterion="embedding-backward",
    replaces="embedding_backward",
    text="float32 gradients came back as float64.",
    fix="np.zeros makes float64: give it dtype=grad_output.dtype.",
)
def gradient_in_double_precision(grad_output, ids, num_embeddings, right=embedding_backward):
    return right(grad_output, ids, num_embeddings).astype(np.float64)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="Only the neighbours to the right were paired with a token.",
    fix="Look to the left as well: each two neighbours make two pairs, one for each as the center.",
)
def neighbours_to_the_right_only(ids, window, right=skip_gram_pairs):
    right(ids, window)
    pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in range(i + 1, min(i + window + 1, len(ids)))]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="Each token was paired with itself, too.",
    fix="Leave out the place of the center when you go through the window.",
)
def center_as_its_own_context(ids, window, right=skip_gram_pairs):
    right(ids, window)
    size = len(ids)
    pairs = [(ids[i], ids[j]) for i in range(size) for j in range(max(i - window, 0), min(i + window + 1, size))]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="The two columns are exchanged: the context stands first.",
    fix="A row is (center, context), and all rows of one center stand together.",
)
def context_before_center(ids, window, right=skip_gram_pairs):
    return right(ids, window)[:, ::-1]


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="The pairs hold places in the text instead of ids.",
    fix="Collect (ids[i], ids[j]), not (i, j).",
)
def places_instead_of_ids(ids, window, right=skip_gram_pairs):
    return right(np.arange(len(right(ids, window)[:0]) + len(ids)), window)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="The neighbour at distance window to the right is missing.",
    fix="range stops before its end: the last place is min(i + window + 1, n) - 1.",
)
def window_one_short_on_the_right(ids, window, right=skip_gram_pairs):
    right(ids, window)
    size = len(ids)
    places = [(i, j) for i in range(size) for j in range(max(i - window, 0), min(i + window, size)) if i != j]
    return np.array([(ids[i], ids[j]) for i, j in places], dtype=np.int64).reshape(-1, 2)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="The neighbour at distance window to the left is missing.",
    fix="range begins with its start: the first place is max(i - window, 0).",
)
def window_one_short_on_the_left(ids, window, right=skip_gram_pairs):
    right(ids, window)
    size = len(ids)
    places = [(i, j) for i in range(size) for j in range(max(i - window + 1, 0), min(i + window + 1, size)) if i != j]
    return np.array([(ids[i], ids[j]) for i, j in places], dtype=np.int64).reshape(-1, 2)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="At the start of the text, negative places took neighbours from its end.",
    fix="Begin at max(i - window, 0).",
)
def start_wraps_around(ids, window, right=skip_gram_pairs):
    right(ids, window)
    size = len(ids)
    places = [
        (i, j) for i in range(size) for j in range(i - window, min(i + window + 1, size)) if i != j and j >= -size
    ]
    return np.array([(ids[i], ids[j]) for i, j in places], dtype=np.int64).reshape(-1, 2)


@mistake(
    criterion="skip-gram-pairs",
    replaces="skip_gram_pairs",
    text="Neighbours with the same id were left out.",
    fix="Compare places, not ids: the same word two places on is a neighbour like any other.",
)
def equal_neighbours_left_out(ids, window, right=skip_gram_pairs):
    pairs = right(ids, window)
    return pairs[pairs[:, 0] != pairs[:, 1]]


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The losses of the pairs were added up.",
    fix="Divide loss and gradients by the number of pairs: the loss is a mean over the batch.",
)
def losses_added_up(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss * len(centers), {name: grad * len(centers) for name, grad in grads.items()}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The losses of the pairs were added up.",
    fix="Divide the sum by the number of pairs, len(centers): the loss is a mean over the batch.",
)
def losses_added_up_without_gradients(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    return right(center_table, context_table, centers, contexts, negatives)[0] * len(centers), {}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The losses of the pairs were added up, while the gradients are those of their mean.",
    fix="Divide the loss by the number of pairs, len(centers), too.",
)
def losses_added_up_beside_mean_gradients(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss * len(centers), grads


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The mean went over all scores, so that the loss is also divided by 1 + num_negatives.",
    fix="Add up the terms of one pair and divide by the number of pairs alone.",
)
def mean_over_all_scores(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    targets = 1 + negatives.shape[1]
    return loss / targets, {name: grad / targets for name, grad in grads.items()}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The terms of the negatives were averaged instead of added up.",
    fix="Add up -log sigmoid(-score) over the negatives of a pair; only over the pairs a mean is taken.",
)
def mean_over_negatives(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    whole, whole_grads = right(center_table, context_table, centers, contexts, negatives)
    real, real_grads = right(center_table, context_table, centers, contexts, negatives[:, :0])
    share = 1 / max(negatives.shape[1], 1)
    grads = {name: real_grads[name] + share * (whole_grads[name] - real_grads[name]) for name in whole_grads}
    return real + share * (whole - real), grads


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The negatives were treated as real pairs: their scores were not turned round.",
    fix="A negative counts with -log sigmoid(-score), so that low scores are good.",
)
def negatives_taken_as_real(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    targets = _targets(_ids("centers", centers, len(center_table)), np.asarray(contexts), np.asarray(negatives))
    number = targets.shape[1]
    repeated, flat = np.repeat(centers, number), targets.reshape(-1)
    loss, grads = right(center_table, context_table, repeated, flat, np.zeros((flat.size, 0), dtype=np.int64))
    return loss * number, {name: grad * number for name, grad in grads.items()}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The negatives were treated as real pairs: their scores were not turned round.",
    fix="A negative counts with -log sigmoid(-score), so that low scores are good.",
)
def negatives_taken_as_real_without_gradients(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    right(center_table, context_table, centers, contexts, negatives)
    rows = context_table[np.concatenate([contexts[:, None], negatives], axis=1)]
    scores = np.einsum("bd,bkd->bk", center_table[centers], rows)
    return np.logaddexp(0, -scores).sum() / len(centers), {}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="This is the mean log-likelihood: the minus sign of a loss is missing.",
    fix="Turn the sign round, so that a better model has a smaller loss, and loss is never below 0.",
)
def minus_sign_missing(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return -loss, {name: -grad for name, grad in grads.items()}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The negatives do not count: this is the loss of the real pairs alone.",
    fix="Add -log sigmoid(-score) for each negative of a pair.",
)
def negatives_left_out(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    right(center_table, context_table, centers, contexts, negatives)
    return right(center_table, context_table, centers, contexts, negatives[:, :0])


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The negatives do not count: this is the loss of the real pairs alone.",
    fix="Add -log sigmoid(-score) for each negative of a pair.",
)
def negatives_left_out_without_gradients(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    right(center_table, context_table, centers, contexts, negatives)
    return right(center_table, context_table, centers, contexts, negatives[:, :0])[0], {}


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="Negatives that equal the context of their pair were skipped.",
    fix="Let them count as they are: such a negative is added like every other one.",
)
def negatives_like_the_context_skipped(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    loss, grads = loss * 0, {name: grad * 0 for name, grad in grads.items()}
    for i, context in enumerate(contexts):
        others = negatives[i : i + 1, negatives[i] != context]
        one, more = right(center_table, context_table, centers[i : i + 1], contexts[i : i + 1], others)
        loss = loss + one / len(centers)
        grads = {name: grad + more[name] / len(centers) for name, grad in grads.items()}
    return loss, grads


@mistake(
    criterion="negative-sampling-loss",
    replaces="negative_sampling_loss",
    text="The tables were exchanged: centers were looked up in context_table, contexts and negatives in center_table.",
    fix="Take center_table[centers], context_table[contexts] and context_table[negatives].",
)
def tables_exchanged(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    right(center_table, context_table, centers, contexts, negatives)
    loss, grads = right(context_table, center_table, centers, contexts, negatives)
    return loss, {"center_table": grads["context_table"], "context_table": grads["center_table"]}


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="The loss is a mean over the pairs, but its gradients were not divided by their number.",
    fix="Divide the slopes by len(centers), as the loss was.",
)
def gradients_of_the_sum(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss, {name: grad * len(centers) for name, grad in grads.items()}


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="Of a row that occurs several times in the batch only the last gradient was kept.",
    fix="Gather with embedding_backward or np.add.at; grads[ids] += g writes each row once.",
)
def last_pair_wins(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    signs = np.where(np.arange(targets.shape[1]) == 0, 1, -1).astype(center_table.dtype)
    v, u = center_table[centers], context_table[targets]
    slopes = -signs * np.exp(-np.logaddexp(0, signs * np.einsum("bd,bkd->bk", v, u))) / len(centers)
    grads = {name: np.zeros_like(grad) for name, grad in grads.items()}
    grads["center_table"][centers] += np.einsum("bk,bkd->bd", slopes, u)
    grads["context_table"][contexts] += slopes[:, 0, None] * v
    grads["context_table"][negatives] += slopes[:, 1:, None] * v[:, None]
    return loss, grads


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="Of a negative that occurs several times in the batch only the last gradient was kept.",
    fix="Gather the gradients of the negatives with np.add.at, too; grads[negatives] += g writes each row once.",
)
def last_negative_wins(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    _, real = right(center_table, context_table, centers, contexts, negatives[:, :0])
    v = center_table[centers]
    slopes = np.exp(-np.logaddexp(0, -np.einsum("bd,bkd->bk", v, context_table[negatives]))) / len(centers)
    real["context_table"][negatives] += slopes[..., None] * v[:, None]
    return loss, {**grads, "context_table": real["context_table"]}


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="The slope of a real pair is sigmoid(score) - 1; here the 1 was not subtracted.",
    fix="Use sigmoid(score) - 1, which is -sigmoid(-score), for the context and sigmoid(score) for the negatives.",
)
def one_not_subtracted(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    more_center = embedding_backward(context_table[contexts] / len(centers), centers, len(center_table))
    more_context = embedding_backward(center_table[centers] / len(centers), contexts, len(center_table))
    grads["center_table"] = grads["center_table"] + more_center
    grads["context_table"] = grads["context_table"] + more_context
    return loss, grads


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="The negatives pass nothing back to the centers: center_table has the gradient of the real pairs alone.",
    fix="A center takes part in 1 + num_negatives scores: add slope * u over all of them.",
)
def centers_hear_real_pairs_only(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    _, real = right(center_table, context_table, centers, contexts, negatives[:, :0])
    return loss, {**grads, "center_table": real["center_table"]}


@mistake(
    criterion="negative-sampling-gradients",
    replaces="negative_sampling_loss",
    text="The gradients have a row for each pair instead of a row for each id.",
    fix="Gather them into arrays of the shape of the tables, for instance with embedding_backward.",
)
def gradients_not_gathered(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, _ = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    signs = np.where(np.arange(targets.shape[1]) == 0, 1, -1).astype(center_table.dtype)
    v, u = center_table[centers], context_table[targets]
    slopes = -signs * np.exp(-np.logaddexp(0, signs * np.einsum("bd,bkd->bk", v, u))) / len(centers)
    return loss, {"center_table": np.einsum("bk,bkd->bd", slopes, u), "context_table": slopes[..., None] * v[:, None]}


@mistake(
    criterion="negative-sampling-stable",
    replaces="negative_sampling_loss",
    text="exp(-score) overflowed, the sigmoid became 0, and the logarithm of 0 is minus infinity.",
    fix="Compute -log sigmoid(m) as np.logaddexp(0, -m), which is max(-m, 0) + log1p(exp(-|m|)).",
)
def logarithm_of_a_sigmoid(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    scores = np.einsum("bd,bkd->bk", center_table[centers], context_table[targets])
    margins = np.where(np.arange(targets.shape[1]) == 0, scores, -scores)
    with np.errstate(all="ignore"):
        return -np.log(1 / (1 + np.exp(-margins))).sum() / len(centers), grads


@mistake(
    criterion="negative-sampling-stable",
    replaces="negative_sampling_loss",
    text="A small constant inside the logarithm keeps the loss from growing beyond about 23.",
    fix="Leave the constant out and compute -log sigmoid(m) as np.logaddexp(0, -m).",
)
def constant_inside_the_logarithm(
    center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss
):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    scores = np.einsum("bd,bkd->bk", center_table[centers], context_table[targets])
    margins = np.where(np.arange(targets.shape[1]) == 0, scores, -scores)
    return -np.log(np.exp(-np.logaddexp(0, -margins)) + 1e-10).sum() / len(centers), grads


@mistake(
    criterion="negative-sampling-stable",
    replaces="negative_sampling_loss",
    text="The scores were clipped to -30 to 30, so that beyond it loss and gradients no longer change.",
    fix="Do not clip: np.logaddexp and an exponential of something below 0 take any score.",
)
def scores_clipped(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    signs = np.where(np.arange(targets.shape[1]) == 0, 1, -1).astype(center_table.dtype)
    v, u = center_table[centers], context_table[targets]
    margins = np.clip(signs * np.einsum("bd,bkd->bk", v, u), -30, 30)
    slopes = -signs * np.exp(-np.logaddexp(0, margins)) / len(centers)
    grads = {
        "center_table": embedding_backward(np.einsum("bk,bkd->bd", slopes, u), centers, len(center_table)),
        "context_table": embedding_backward(slopes[..., None] * v[:, None], targets, len(center_table)),
    }
    return np.logaddexp(0, -margins).sum() / len(centers), grads


@mistake(
    criterion="negative-sampling-stable",
    replaces="negative_sampling_loss",
    text="The gradient is NaN: exp(score) overflowed, and infinity was divided by infinity.",
    fix="Compute the sigmoid of x as np.exp(-np.logaddexp(0, -x)), or use 1 / (1 + exp(-x)) where x >= 0 only.",
)
def infinity_over_infinity(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, _ = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    v, u = center_table[centers], context_table[targets]
    with np.errstate(all="ignore"):
        powers = np.exp(np.einsum("bd,bkd->bk", v, u))
        slopes = np.where(np.arange(targets.shape[1]) == 0, -1 / (1 + powers), powers / (1 + powers)) / len(centers)
        slopes = slopes.astype(center_table.dtype)
    return loss, {
        "center_table": embedding_backward(np.einsum("bk,bkd->bd", slopes, u), centers, len(center_table)),
        "context_table": embedding_backward(slopes[..., None] * v[:, None], targets, len(center_table)),
    }


@mistake(
    criterion="negative-sampling-stable",
    replaces="negative_sampling_loss",
    text="The slope of a well-known pair became exactly 0: sigmoid(score) - 1 lost all its digits.",
    fix="Use -sigmoid(-score) instead, the same number without a difference of nearly equal ones.",
)
def slope_lost_in_a_difference(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, _ = right(center_table, context_table, centers, contexts, negatives)
    targets = np.concatenate([contexts[:, None], negatives], axis=1)
    v, u = center_table[centers], context_table[targets]
    sigmoids = np.exp(-np.logaddexp(0, -np.einsum("bd,bkd->bk", v, u)))
    slopes = sigmoids / len(centers)
    slopes[:, 0] = (sigmoids[:, 0] - 1) / len(centers)
    return loss, {
        "center_table": embedding_backward(np.einsum("bk,bkd->bd", slopes, u), centers, len(center_table)),
        "context_table": embedding_backward(slopes[..., None] * v[:, None], targets, len(center_table)),
    }


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="The rows were ranked by their dot products with the query: long vectors win, wherever they point.",
    fix="Divide each dot product by the length of the row and the length of the query.",
)
def dot_products_ranked(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    products = table @ query
    ids = np.argsort(-products, kind="stable")[:k]
    return ids, products[ids]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="The rows were ranked by their distance from the query.",
    fix="Rank by cosine similarity, the dot product over both lengths, largest first.",
)
def distances_ranked(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    distances = np.linalg.norm(table - query, axis=1)
    ids = np.argsort(distances, kind="stable")[:k]
    return ids, distances[ids]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="The least similar rows come first.",
    fix="argsort sorts upwards: sort the negated similarities.",
)
def least_similar_first(table, query, k, right=nearest_neighbors):
    _, similarities = right(table, query, k)
    ids, everything = right(table, query, len(table))
    similarities = np.empty_like(everything)
    similarities[ids] = everything
    ids = np.argsort(similarities, kind="stable")[:k]
    return ids, similarities[ids]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="The most similar row was left out, as if it were the query itself.",
    fix="Return it: query need not be a row of the table, and whoever passes one can drop the first answer.",
)
def best_row_left_out(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    ids, similarities = right(table, query, len(table))
    return ids[1 : k + 1], similarities[1 : k + 1]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="A small constant was added to the lengths, and short vectors lose their similarity.",
    fix="Divide by the lengths themselves where they are not 0, and give vectors of zeros the similarity 0.",
)
def constant_added_to_the_lengths(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    similarities = table @ query / (np.linalg.norm(table, axis=1) * np.linalg.norm(query) + 1e-8)
    ids = np.argsort(-similarities, kind="stable")[:k]
    return ids, similarities[ids]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="A vector of zeros has the similarity NaN: 0 was divided by 0.",
    fix="Divide by 1 where a length is 0, which gives the similarity 0.",
)
def zero_vectors_give_nan(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    with np.errstate(all="ignore"):
        similarities = table @ query / (np.linalg.norm(table, axis=1) * np.linalg.norm(query))
    ids = np.argsort(-similarities, kind="stable")[:k]
    return ids, similarities[ids]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="Of equally similar rows the one with the larger id comes first.",
    fix="Sort the negated similarities with a stable sort instead of reversing a sorted list.",
)
def larger_ids_first(table, query, k, right=nearest_neighbors):
    right(table, query, k)
    ids, similarities = right(table[::-1], query, len(table))
    return len(table) - 1 - ids[:k], similarities[:k]


@mistake(
    criterion="nearest-neighbors",
    replaces="nearest_neighbors",
    text="The ranking is right, but the similarities were not divided by the length of the query.",
    fix="Divide by np.linalg.norm(query), too: a cosine lies between -1 and 1.",
)
def length_of_the_query_forgotten(table, query, k, right=nearest_neighbors):
    ids, similarities = right(table, query, k)
    return ids, similarities * np.linalg.norm(query)


@mistake(
    criterion="word-vectors",
    replaces="negative_sampling_loss",
    text="The gradients point downhill: a step against them makes the loss larger.",
    fix="A gradient points where the loss grows: return the derivatives and leave the minus sign to the step.",
)
def gradients_negated(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss, {name: -grad for name, grad in grads.items()}


@mistake(
    criterion="word-vectors",
    replaces="negative_sampling_loss",
    text="The two gradients stand under each other's names.",
    fix='grads["center_table"] is the gradient for the rows of the centers, made of rows of context_table.',
)
def gradients_exchanged(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss, {"center_table": grads["context_table"], "context_table": grads["center_table"]}


@mistake(
    criterion="word-vectors",
    replaces="negative_sampling_loss",
    text="context_table has a gradient of zero, so that only one of the tables learns.",
    fix='Each target\'s row gets slope * v: gather these for contexts and negatives into grads["context_table"].',
)
def contexts_do_not_learn(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss, {**grads, "context_table": np.zeros_like(grads["context_table"])}


@mistake(
    criterion="word-vectors",
    replaces="negative_sampling_loss",
    text="center_table has a gradient of zero, so that only one of the tables learns.",
    fix='Each center\'s row gets the sum of slope * u over its targets: gather these into grads["center_table"].',
)
def centers_do_not_learn(center_table, context_table, centers, contexts, negatives, right=negative_sampling_loss):
    loss, grads = right(center_table, context_table, centers, contexts, negatives)
    return loss, {**grads, "center_table": np.zeros_like(grads["center_table"])}
