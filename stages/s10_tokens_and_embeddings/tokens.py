"""From text to numbers to vectors: vocabularies, byte pair encoding, embedding tables, word vectors by skip-gram.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
ids are whole numbers from 0; a function that returns ids returns an int64 array; inputs are never changed; a table has
one row for each id.
"""

import numpy as np


def build_vocabulary(tokens, min_count=1):
    """Return the id of every token that is frequent enough: "<unk>" has 0, the most frequent token 1, and so on.

    Args:
        tokens: a list of strings, the training text cut into words (or characters, or whatever else).
        min_count: a token that occurs less often is left out.

    Returns:
        A dict from token to id, with the ids 0 to len - 1. "<unk>" is always there with id 0, also where the text
        itself contains it. The others follow by falling count, and those of equal count in Python's order of strings.

    Raises:
        ValueError: min_count is below 1.

    Source: the convention of word-level language models; Mikolov et al. 2013 drop words of fewer than 5 occurrences.

    Example:
        >>> build_vocabulary(["the", "cat", "saw", "the", "dog"])
        {'<unk>': 0, 'the': 1, 'cat': 2, 'dog': 3, 'saw': 4}
        >>> build_vocabulary(["the", "cat", "saw", "the", "dog"], min_count=2)
        {'<unk>': 0, 'the': 1}
    """
    raise NotImplementedError("build_vocabulary")


def encode(tokens, vocabulary):
    """Return the ids of tokens; a token that the vocabulary does not have gets the id of "<unk>".

    Args:
        tokens: a list of n strings.
        vocabulary: a dict from token to id, such as build_vocabulary returns; "<unk>" may have any id, or be missing.

    Returns:
        int64 array, shape (n,); also for n = 0.

    Raises:
        ValueError: a token is not in the vocabulary, and "<unk>" is not either.

    Example:
        >>> encode(["the", "cow"], {"<unk>": 0, "the": 1, "cat": 2})
        array([1, 0])
    """
    raise NotImplementedError("encode")


def decode(ids, vocabulary):
    """Return the tokens of ids: the inverse of encode, except that unknown tokens come back as "<unk>".

    Args:
        ids: n whole numbers, as a list or an array of shape (n,).
        vocabulary: a dict from token to id, with the ids 0 to len - 1 in any order.

    Returns:
        A list of n strings.

    Raises:
        ValueError: an id belongs to no token of the vocabulary; negative ids never do.

    Example:
        >>> decode([1, 0, 2], {"<unk>": 0, "the": 1, "cat": 2})
        ['the', '<unk>', 'cat']
    """
    raise NotImplementedError("decode")


def byte_pair_merges(text, num_merges):
    """Return the merges that byte pair encoding learns from a text: again and again the most frequent pair of ids.

    The text starts as its UTF-8 bytes, ids 0 to 255, not cut at spaces. Each step counts all pairs of neighbours, takes
    the most frequent one, and replaces its occurrences, from left to right, by a new id: 256 in the first step, 257 in
    the second, and so on. All neighbours count, also overlapping ones: (a, a) occurs twice in "aaa", of which the
    replacement makes [256, a]. Of pairs that are equally frequent the smallest is taken, by the first id and then by
    the second.

    Args:
        text: a string.
        num_merges: how many steps, 0 or more.

    Returns:
        A list of at most num_merges pairs (left id, right id), in the order of the steps: pair number i became id
        256 + i. It ends early as soon as no pair occurs at least twice.

    Raises:
        ValueError: num_merges is below 0.

    Source: Sennrich, Haddow and Birch 2016, algorithm 1; on bytes as in Radford et al. 2019, section 2.2.

    Example:
        >>> byte_pair_merges("aaabdaaabac", 3)  # a is byte 97, b is 98: aa, then ab, then aa followed by ab
        [(97, 97), (97, 98), (256, 257)]
    """
    raise NotImplementedError("byte_pair_merges")


def bpe_encode(text, merges):
    """Return the ids of a text: its UTF-8 bytes, with the merges applied in the order in which they were learnt.

    Args:
        text: a string; it need not be the one that the merges were learnt from.
        merges: a list of pairs of ids, no pair twice, such as byte_pair_merges returns: number i makes id 256 + i of
            two ids below that.

    Returns:
        int64 array of one axis, empty for an empty text. Each merge replaces all occurrences of its pair, from left to
        right, before the next merge begins.

    Source: Sennrich, Haddow and Birch 2016, section 3.2.

    Example:
        >>> bpe_encode("aaabdaaabac", [(97, 97), (97, 98), (256, 257)])
        array([258, 100, 258,  97,  99])
        >>> bpe_encode("aaa", [(97, 97)])
        array([256,  97])
    """
    raise NotImplementedError("bpe_encode")


def bpe_decode(ids, merges):
    """Return the text of ids: bpe_decode(bpe_encode(text, merges), merges) is text, whatever its language.

    Args:
        ids: whole numbers, as a list or an array of shape (n,).
        merges: a list of pairs of ids, as for bpe_encode.

    Returns:
        The string whose UTF-8 bytes the ids stand for. Only all the bytes together are decoded, since a character may
        be spread over several ids. Bytes that are no UTF-8 become U+FFFD, as bytes.decode does with errors="replace".

    Raises:
        ValueError: an id is below 0, or 256 + len(merges) or more.

    Example:
        >>> bpe_decode([258, 100, 258, 97, 99], [(97, 97), (97, 98), (256, 257)])
        'aaabdaaabac'
        >>> bpe_decode([195, 164], []), bpe_decode([195], [])  # two bytes of one character, and only the first
        ('ä', '\ufffd')
    """
    raise NotImplementedError("bpe_decode")


def embedding_forward(ids, table):
    """Return the vectors of ids: row ids[i] of the table for every i.

    Args:
        ids: integers, shape (...), from 0 to num_embeddings - 1.
        table: one vector for each id, shape (num_embeddings, dim).

    Returns:
        Shape (..., dim), with the dtype of the table.

    Raises:
        ValueError: table has not two axes, ids are not integers (booleans are not), or an id is below 0 or not below
            num_embeddings.

    Source: Bengio et al. 2003, section 2 (the matrix C).

    Example:
        >>> embedding_forward(np.array([2, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        array([[5., 6.],
               [1., 2.],
               [5., 6.]])
    """
    raise NotImplementedError("embedding_forward")


def embedding_backward(grad_output, ids, num_embeddings):
    """Return the gradient of a loss with respect to the table: each row collects what came back for its id.

    Args:
        grad_output: gradient with respect to what embedding_forward returned, shape (..., dim).
        ids: the ids of that call, integers of shape (...).
        num_embeddings: the number of rows of the table.

    Returns:
        Shape (num_embeddings, dim), with the dtype of grad_output. Row r is the sum of grad_output over all places
        where ids is r; it is zero for an id that does not occur.

    Raises:
        ValueError: ids are not integers (booleans are not), an id is below 0 or not below num_embeddings, or
            grad_output has not the shape of ids and one more axis.

    Source: the chain rule; the lookup is a product with one-hot rows, and this is the product with their transpose.

    Example:
        >>> embedding_backward(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([2, 0, 2]), 4)
        array([[3., 4.],
               [0., 0.],
               [6., 8.],
               [0., 0.]])
    """
    raise NotImplementedError("embedding_backward")


def skip_gram_pairs(ids, window):
    """Return every token paired with each of its neighbours, at most window places to the left or to the right.

    Args:
        ids: integers, shape (n,), a text in its order.
        window: how far a neighbour may be away, at least 1.

    Returns:
        int64 array, shape (num_pairs, 2), of rows (center id, context id): first all pairs of the first token, from its
        leftmost neighbour to its rightmost, then those of the second, and so on. A token is not its own neighbour, but
        an equal id at another place is one. Shape (0, 2) where n is 0 or 1.

    Raises:
        ValueError: ids has not one axis, or window is below 1.

    Source: Mikolov et al. 2013a (arXiv:1301.3781), section 3.2, with windows of one size.

    Example:
        >>> skip_gram_pairs(np.array([7, 8, 9]), 1).tolist()
        [[7, 8], [8, 7], [8, 9], [9, 8]]
    """
    raise NotImplementedError("skip_gram_pairs")


def negative_sampling_loss(center_table, context_table, centers, contexts, negatives):
    """Return how badly two tables tell real pairs from made-up ones, and the gradients of that.

    For a center c, its context o and the negatives n_1 to n_k, with v the rows of center_table, u those of
    context_table and sigmoid(s) = 1 / (1 + exp(-s)), one pair has the loss

        -log sigmoid(u_o . v_c) - sum over j of log sigmoid(-u_nj . v_c)

    and the result is the mean over the batch.

    Args:
        center_table: vectors of the tokens as centers, shape (num_embeddings, dim).
        context_table: vectors of the tokens as contexts, shape (num_embeddings, dim).
        centers: ids, integers of shape (batch,), batch at least 1.
        contexts: ids, integers of shape (batch,): contexts[i] was seen near centers[i].
        negatives: ids, integers of shape (batch, num_negatives), drawn at random; num_negatives may be 0. They count as
            they are, also where one equals the context or another negative.

    Returns:
        (loss, grads): a number, and a dict with the keys "center_table" and "context_table", whose arrays have the
        shapes and dtypes of the tables, float64 for integers. What several pairs contribute to one row adds up. Scores
        of any size give precise numbers: -log sigmoid(-1000) is 1000, and -log sigmoid(40) is 4.25e-18 and not 0, in
        the gradients too.

    Raises:
        ValueError: center_table has not two axes, context_table has another shape, ids are not integers (booleans are
            not) or not in the tables, centers has not one axis or is empty, contexts has not the shape of centers, or
            negatives has not two axes, the first of them of the size of centers.

    Source: Mikolov et al. 2013b (arXiv:1310.4546), equation 4, as a mean and with the sign of a loss.

    Example:
        >>> center_table, context_table = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 3.0]])
        >>> center, context, negatives = np.array([0]), np.array([0]), np.array([[1]])
        >>> loss, grads = negative_sampling_loss(center_table, context_table, center, context, negatives)
        >>> round(float(loss), 4)  # -log sigmoid(2) - log sigmoid(-0) = 0.1269 + 0.6931
        0.8201
        >>> grads["center_table"].round(4)
        array([[-0.2384,  1.5   ],
               [ 0.    ,  0.    ]])
    """
    raise NotImplementedError("negative_sampling_loss")


def nearest_neighbors(table, query, k):
    """Return the k rows of a table that point most nearly in the direction of a query, and how nearly.

    Args:
        table: one vector for each id, shape (num_embeddings, dim).
        query: a vector, shape (dim,). A row of the table itself finds itself first.
        k: how many, from 1 to num_embeddings.

    Returns:
        (ids, similarities): int64 array (k,), and array (k,) of their cosine similarities with the query, largest
        first; of equal ones the smaller id first. A vector of zeros has similarity 0 with everything; of any other one
        the direction counts, down to lengths of 1e-100. The similarities of float32 arrays are float32, of integers
        float64.

    Raises:
        ValueError: table has not two axes, query has not the shape (dim,), or k is not from 1 to num_embeddings.

    Source: Mikolov et al. 2013a (arXiv:1301.3781), section 4: the closest word by cosine distance.

    Example:
        >>> table = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 3.0]])
        >>> ids, similarities = nearest_neighbors(table, np.array([3.0, 0.0]), 2)
        >>> ids, similarities
        (array([0, 2]), array([1. , 0.8]))
    """
    raise NotImplementedError("nearest_neighbors")
