"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own method as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s20_vision_transformer.solution import (
    PatchEmbedding,
    ViT,
    _generator,
    _grid,
    _last_forward,
    _of_shape,
    _parts,
    add_positions,
    add_positions_backward,
    attention_rollout,
    class_token_map,
    patchify,
    prepend_class_token,
    prepend_class_token_backward,
    unpatchify,
)


@mistake(
    criterion="patchify",
    replaces="patchify",
    text="The patches come column by column: the second patch lies below the first.",
    fix="Count along the top row of patches first: bring the axes to (batch, rows, columns, ...).",
)
def patches_column_by_column(images, patch_size, right=patchify):
    patches = right(images, patch_size)
    rows, columns = _grid(*images.shape[2:], patch_size)
    return patches.reshape(len(patches), rows, columns, -1).swapaxes(1, 2).reshape(patches.shape)


@mistake(
    criterion="patchify",
    replaces="patchify",
    text="Within a patch, the channels of each pixel stand side by side.",
    fix="Put the channels' axis before the rows and columns within the patch: first all of channel 0.",
)
def channels_last_in_a_patch(images, patch_size, right=patchify):
    patches = right(images, patch_size)
    split = patches.reshape(*patches.shape[:2], images.shape[1], -1)
    return split.swapaxes(2, 3).reshape(patches.shape)


@mistake(
    criterion="patchify",
    replaces="patchify",
    text="The image was reshaped straight to the patches' shape, so a patch holds pixels of one row after the other.",
    fix="Split height and width first, each into patches and pixels within, then transpose, then merge axes.",
)
def reshape_without_transpose(images, patch_size, right=patchify):
    return images.reshape(right(images, patch_size).shape)


@mistake(
    criterion="patchify",
    replaces="patchify",
    text="Every patch lies on its side: its pixels were read column by column.",
    fix="Within a patch, the axis of the rows comes before that of the columns.",
)
def pixels_column_by_column(images, patch_size, right=patchify):
    patches = right(images, patch_size)
    split = patches.reshape(-1, patch_size, patch_size)
    return split.swapaxes(1, 2).reshape(patches.shape)


@mistake(
    criterion="patchify",
    replaces="patchify",
    text="A patch size that does not fit was accepted: what is left over at the right and the bottom is lost.",
    fix="Raise ValueError unless patch_size divides height and width.",
)
def remainder_cut_off(images, patch_size, right=patchify):
    if patch_size < 1 or images.ndim != 4:
        return right(images, patch_size)
    height, width = (size // patch_size * patch_size for size in images.shape[2:])
    return right(images[:, :, :height, :width], patch_size)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="The patches were reshaped straight to the images' shape.",
    fix="Split the patches into (batch, rows, columns, channels, p, p) and transpose before the axes are merged.",
)
def patches_reshaped_to_images(patches, patch_size, image_shape, right=unpatchify):
    return patches.reshape(right(patches, patch_size, image_shape).shape)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="The patches were put back column by column.",
    fix="The second patch lies to the right of the first.",
)
def patches_put_back_column_by_column(patches, patch_size, image_shape, right=unpatchify):
    right(patches, patch_size, image_shape)
    rows, columns = _grid(*image_shape[1:], patch_size)
    turned = patches.reshape(len(patches), columns, rows, -1).swapaxes(1, 2)
    return right(turned.reshape(patches.shape), patch_size, image_shape)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="The two axes of the grid came side by side, then both axes of a patch: a patch fills rows of the image.",
    fix="Put the axis of the rows within a patch right behind the axis of the rows of patches, then merge the two.",
)
def axes_of_the_grid_side_by_side(patches, patch_size, image_shape, right=unpatchify):
    right(patches, patch_size, image_shape)
    split = patches.reshape(*patches.shape[:2], image_shape[0], -1).swapaxes(1, 2)
    return split.reshape(len(patches), *image_shape)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="The axes of the grid changed places: the columns of patches were merged with the rows within a patch.",
    fix="Merge rows of patches with rows within a patch, and columns of patches with columns within a patch.",
)
def axes_of_the_grid_exchanged(patches, patch_size, image_shape, right=unpatchify):
    right(patches, patch_size, image_shape)
    rows, columns = _grid(*image_shape[1:], patch_size)
    split = patches.reshape(len(patches), rows, columns, -1, patch_size, patch_size)
    return split.transpose(0, 3, 2, 4, 1, 5).reshape(len(patches), *image_shape)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="The numbers of a patch were read as (row, column, channel).",
    fix="patchify puts them there channel by channel: split into (channels, patch_size, patch_size).",
)
def channels_taken_from_the_end(patches, patch_size, image_shape, right=unpatchify):
    right(patches, patch_size, image_shape)
    split = patches.reshape(*patches.shape[:2], -1, image_shape[0]).swapaxes(2, 3)
    return right(split.reshape(patches.shape), patch_size, image_shape)


@mistake(
    criterion="unpatchify",
    replaces="unpatchify",
    text="Every patch was put back on its side, with its rows as columns.",
    fix="The axis of the rows within a patch goes next to the axis of the rows of patches.",
)
def patches_put_back_on_their_side(patches, patch_size, image_shape, right=unpatchify):
    right(patches, patch_size, image_shape)
    turned = patches.reshape(-1, patch_size, patch_size).swapaxes(1, 2)
    return right(turned.reshape(patches.shape), patch_size, image_shape)


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.forward",
    text="The bias was not added.",
    fix="Return patches @ weights + bias.",
)
def embedding_without_bias(self, images, right=PatchEmbedding.forward):
    return right(self, images) - self.params["bias"]


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.__init__",
    text="The initial weights were divided by the square root of dim.",
    fix="Divide by the square root of the number of inputs, channels * patch_size**2.",
)
def weights_scaled_by_outputs(self, channels, patch_size, dim, rng=None, right=PatchEmbedding.__init__):
    right(self, channels, patch_size, dim, rng)
    self.params["weights"] = self.params["weights"] * (channels * patch_size**2 / dim) ** 0.5


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.__init__",
    text="The initial weights have a standard deviation of 1.",
    fix="Divide what the generator draws by the square root of channels * patch_size**2.",
)
def initial_weights_of_size_one(self, channels, patch_size, dim, rng=None, right=PatchEmbedding.__init__):
    right(self, channels, patch_size, dim, rng)
    self.params["weights"] = self.params["weights"] * (channels * patch_size**2) ** 0.5


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.forward",
    text="The layer went on with the parameters of its first call: what was put into params later has no effect.",
    fix="Read self.params at each call of forward.",
)
def embedding_keeps_its_first_params(self, images, right=PatchEmbedding.forward):
    if not hasattr(self, "_first"):
        self._first = self.params
    now, self.params = self.params, self._first
    try:
        return right(self, images)
    finally:
        self.params = now


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.forward",
    text="Each patch was brought to mean 0 before it was projected.",
    fix="Project the pixels as they are; normalising is the encoder's part.",
)
def patches_centred(self, images):
    patches = patchify(images, self._patch_size)
    centred = patches - patches.mean(axis=-1, keepdims=True)
    output = centred @ self.params["weights"] + self.params["bias"]
    self._cache = images.shape, centred, output.shape
    return output


@mistake(
    criterion="patch-embedding",
    replaces="PatchEmbedding.__init__",
    text="The initial weights were divided by the number of inputs, not by its square root: they are too small.",
    fix="Divide by the square root of channels * patch_size**2.",
)
def weights_divided_by_the_inputs(self, channels, patch_size, dim, rng=None, right=PatchEmbedding.__init__):
    right(self, channels, patch_size, dim, rng)
    self.params["weights"] = self.params["weights"] / (channels * patch_size**2) ** 0.5


@mistake(
    criterion="convolution-kernels",
    replaces="PatchEmbedding.kernels",
    text="The weights were reshaped without being transposed: a kernel mixes the numbers of several features.",
    fix="A kernel is a column of the weights: transpose, then reshape.",
)
def kernels_without_transpose(self):
    return self.params["weights"].reshape(-1, self._channels, self._patch_size, self._patch_size)


@mistake(
    criterion="convolution-kernels",
    replaces="PatchEmbedding.kernels",
    text="Every kernel lies on its side: its rows are its columns.",
    fix="Keep the order in which patchify reads a patch: rows before columns.",
)
def kernels_on_their_side(self, right=PatchEmbedding.kernels):
    return right(self).swapaxes(2, 3)


@mistake(
    criterion="convolution-kernels",
    replaces="PatchEmbedding.kernels",
    text="The kernels were turned over, as in mathematics' convolution.",
    fix="Deep learning lays kernels on as they are: leave out the flip.",
)
def kernels_turned_over(self, right=PatchEmbedding.kernels):
    return right(self)[:, :, ::-1, ::-1].copy()


@mistake(
    criterion="convolution-kernels",
    replaces="PatchEmbedding.kernels",
    text="The numbers of a kernel were read as (row, column, channel).",
    fix="Reshape to (dim, channels, patch_size, patch_size): a patch holds one channel after the other.",
)
def kernels_with_channels_last(self):
    size = self._patch_size
    return self.params["weights"].T.reshape(-1, size, size, self._channels).transpose(0, 3, 1, 2)


@mistake(
    criterion="patch-embedding-gradients",
    replaces="PatchEmbedding.backward",
    text="The parameters' gradients are averages over the batch.",
    fix="Add up over the batch; whoever wants a mean has divided grad_output already.",
)
def gradients_averaged_over_the_batch(self, grad_output, right=PatchEmbedding.backward):
    grad_images = right(self, grad_output)
    self.grads = {name: value / len(grad_output) for name, value in self.grads.items()}
    return grad_images


@mistake(
    criterion="patch-embedding-gradients",
    replaces="PatchEmbedding.backward",
    text="The gradient of the bias is an average over the patches.",
    fix="The bias was added to every patch: add up the gradients of all of them.",
)
def bias_gradient_averaged_over_patches(self, grad_output, right=PatchEmbedding.backward):
    grad_images = right(self, grad_output)
    self.grads["bias"] = grad_output.mean(axis=1).sum(axis=0)
    return grad_images


@mistake(
    criterion="patch-embedding-gradients",
    replaces="PatchEmbedding.backward",
    text="The second call of backward added its gradients to those of the first.",
    fix="Fill grads with a new dict at each call of backward.",
)
def embedding_gradients_accumulated(self, grad_output, right=PatchEmbedding.backward):
    before = self.grads
    grad_images = right(self, grad_output)
    self.grads = {name: value + before.get(name, 0) for name, value in self.grads.items()}
    return grad_images


@mistake(
    criterion="patch-embedding-gradients",
    replaces="PatchEmbedding.backward",
    text="This is the gradient of the patches: it was not put back into the images.",
    fix="Return unpatchify(grad_output @ weights.T, patch_size, image_shape).",
)
def patch_gradients_returned(self, grad_output, right=PatchEmbedding.backward):
    return patchify(right(self, grad_output), self._patch_size)


@mistake(
    criterion="class-token",
    replaces="prepend_class_token",
    text="The class token stands at the end of each sequence.",
    fix="Join it in front: np.concatenate([first, tokens], axis=1).",
)
def class_token_appended(tokens, class_token, right=prepend_class_token):
    return np.roll(right(tokens, class_token), -1, axis=1)


@mistake(
    criterion="class-token",
    replaces="prepend_class_token",
    text="The class token was added to every token.",
    fix="Make it a token of its own, in front: the sequence gets longer by one.",
)
def class_token_added(tokens, class_token, right=prepend_class_token):
    right(tokens, class_token)
    return tokens + class_token


@mistake(
    criterion="class-token",
    replaces="prepend_class_token",
    text="The class token took the place of the first patch.",
    fix="Put it before all patches; none of them is lost.",
)
def class_token_in_place_of_a_patch(tokens, class_token, right=prepend_class_token):
    return np.delete(right(tokens, class_token), 1, axis=1)


@mistake(
    criterion="positions",
    replaces="add_positions",
    text="The tokens were multiplied by the vectors of their places.",
    fix="Add them: tokens + positions.",
)
def positions_multiplied(tokens, positions, right=add_positions):
    right(tokens, positions)
    return tokens * positions


@mistake(
    criterion="positions",
    replaces="add_positions",
    text="The token at place 0 got no vector of its place.",
    fix="Every token gets one, the class token too: positions has a row for it.",
)
def first_token_without_position(tokens, positions, right=add_positions):
    result = right(tokens, positions)
    result[:, 0] = tokens[:, 0]
    return result


@mistake(
    criterion="positions",
    replaces="add_positions",
    text="Every token got the vector of place 0.",
    fix="Token i gets row i of positions.",
)
def position_zero_for_all(tokens, positions, right=add_positions):
    right(tokens, positions)
    return tokens + positions[0]


@mistake(
    criterion="positions",
    replaces="add_positions",
    text="Each token got the vector of the place after its own, as if positions began with the first patch.",
    fix="Row 0 of positions belongs to the token at place 0.",
)
def positions_one_place_off(tokens, positions, right=add_positions):
    return right(tokens, np.roll(positions, -1, axis=0))


@mistake(
    criterion="positions",
    replaces="add_positions",
    text="A single vector was accepted for all places.",
    fix="Compare positions.shape with (seq, dim) before you add: broadcasting would accept (1, dim).",
)
def one_position_accepted(tokens, positions, right=add_positions):
    if tokens.ndim == 3 and positions.shape == (1, tokens.shape[2]):
        return tokens + positions
    return right(tokens, positions)


@mistake(
    criterion="token-gradients",
    replaces="prepend_class_token_backward",
    text="The gradient of the class token is an average over the batch.",
    fix="It went into every sequence of the batch: add up.",
)
def class_token_gradient_averaged(grad_output, right=prepend_class_token_backward):
    grad_tokens, grad_class_token = right(grad_output)
    return grad_tokens, grad_class_token / len(grad_output)


@mistake(
    criterion="token-gradients",
    replaces="prepend_class_token_backward",
    text="The gradient of the class token was taken from the last place.",
    fix="It stood at place 0: its gradient is grad_output[:, 0], summed over the batch; the tokens get the rest.",
)
def class_token_gradient_of_the_last_place(grad_output, right=prepend_class_token_backward):
    return right(np.roll(grad_output, 1, axis=1))


@mistake(
    criterion="token-gradients",
    replaces="prepend_class_token_backward",
    text="The gradient of the class token adds up all places of the sequences.",
    fix="It stood at place 0 only: grad_output[:, 0].sum(axis=0).",
)
def class_token_gradient_of_all_places(grad_output, right=prepend_class_token_backward):
    grad_tokens, _ = right(grad_output)
    return grad_tokens, grad_output.sum(axis=(0, 1))


@mistake(
    criterion="token-gradients",
    replaces="add_positions_backward",
    text="The gradient of the positions is an average over the batch.",
    fix="The same vectors were added to every sequence: add up over the batch.",
)
def position_gradient_averaged(grad_output, right=add_positions_backward):
    grad_tokens, grad_positions = right(grad_output)
    return grad_tokens, grad_positions / len(grad_output)


@mistake(
    criterion="token-gradients",
    replaces="add_positions_backward",
    text="The gradient of the positions still has the batch axis.",
    fix="One table serves the whole batch: sum over axis 0.",
)
def position_gradient_of_each_image(grad_output, right=add_positions_backward):
    grad_tokens, _ = right(grad_output)
    return grad_tokens, grad_output.copy()


@mistake(
    criterion="token-gradients",
    replaces="prepend_class_token_backward",
    text="The gradient of the tokens lacks the last place, where the first one, that of the class token, has to go.",
    fix="Drop place 0, where the class token stands: grad_output[:, 1:].",
)
def last_place_dropped(grad_output, right=prepend_class_token_backward):
    right(grad_output)
    return grad_output[:, :-1], grad_output[:, 0].sum(axis=0)


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load left the class token and the positions as they were.",
    fix="Replace the model's own four parameters too, not only those of the embedding and the encoder.",
)
def load_leaves_class_token_and_positions(self, params, right=ViT.load):
    before = self._params
    right(self, params)
    self._params = {**self._params, **{name: before[name] for name in ("class_token", "positions")}}


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load did not reach the encoder's last norm.",
    fix="encoder.norm has params of its own, behind those of the blocks.",
)
def load_leaves_the_last_norm(self, params, right=ViT.load):
    before = self.encoder.norm.params
    right(self, params)
    self.encoder.norm.params = before


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load reached the first block only.",
    fix="Loop over all of encoder.blocks.",
)
def load_reaches_the_first_block_only(self, params, right=ViT.load):
    before = [
        {name: part.params for name, part in _parts(self).items() if f"blocks.{i}." in name}
        for i in range(len(self.encoder.blocks))
    ]
    right(self, params)
    parts = _parts(self)
    for kept in before[1:]:
        for name, value in kept.items():
            parts[name].params = value


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="Keys that are missing or unknown were passed over in silence.",
    fix="Compare set(params) with set(self.params), and raise ValueError where they differ.",
)
def load_accepts_any_keys(self, params, right=ViT.load):
    now = self.params
    right(self, {name: params.get(name, value) for name, value in now.items()})


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="An array of another shape was accepted.",
    fix="Compare the shape of each array with that of the parameter which it replaces.",
)
def load_accepts_any_shape(self, params, right=ViT.load):
    now = self.params
    if set(params) != set(now):
        right(self, params)
    self._params = {name: params[name] for name in self._params}
    for name, part in _parts(self).items():
        part.params = {key: params[f"{name}.{key}"] for key in part.params}


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="Some parameters had been replaced by the time that others were refused.",
    fix="Check all keys and shapes first, and replace afterwards.",
)
def load_replaces_before_it_refuses(self, params, right=ViT.load):
    try:
        right(self, params)
    except ValueError:
        fits = {name: np.shape(params.get(name)) == value.shape for name, value in self._params.items()}
        self._params = {name: params[name] if fits[name] else value for name, value in self._params.items()}
        raise


@mistake(
    criterion="vit-parameters",
    replaces="ViT.params",
    text='The encoder\'s parameters stand in params under the names that they have there, without "encoder." in front.',
    fix='Put "encoder." before each of the encoder\'s keys, "embedding." before the embedding\'s.',
)
def encoder_keys_without_prefix(self, right=ViT.params):
    return {name.removeprefix("encoder."): value for name, value in right.fget(self).items()}


@mistake(
    criterion="vit-parameters",
    replaces="ViT.__init__",
    text="Class token and positions start as zeros.",
    fix="Draw them from the generator, with a standard deviation of 0.02.",
)
def class_token_and_positions_start_at_zero(
    self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None, right=ViT.__init__
):
    right(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio, rng)
    self._params.update({name: np.zeros_like(self._params[name]) for name in ("class_token", "positions")})


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load did not reach the patch embedding: it kept its weights and its bias.",
    fix='Give the embedding the entries that begin with "embedding.", too.',
)
def load_leaves_the_embedding(self, params, right=ViT.load):
    before = self.embedding.params
    right(self, params)
    self.embedding.params = before


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load did not reach the head: it kept its weights and its bias.",
    fix="Keep params['head_weights'] and params['head_bias'], too.",
)
def load_leaves_the_head(self, params, right=ViT.load):
    before = self._params
    right(self, params)
    self._params = {**self._params, **{name: before[name] for name in ("head_weights", "head_bias")}}


@mistake(
    criterion="vit-parameters",
    replaces="ViT.load",
    text="load did not reach the MLPs of the blocks: they kept what they had.",
    fix="Hand every part of a block its own entries: norm1, attention, norm2 and mlp.",
)
def load_leaves_the_mlps(self, params, right=ViT.load):
    before = {name: part.params for name, part in _parts(self).items() if name.endswith(".mlp")}
    right(self, params)
    for name, part in _parts(self).items():
        part.params = before.get(name, part.params)


@mistake(
    criterion="vit-parameters",
    replaces="ViT.__init__",
    text="Class token and positions start with a standard deviation of 1.",
    fix="Draw them with the standard deviation 0.02.",
)
def class_token_and_positions_start_large(
    self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None, right=ViT.__init__
):
    right(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio, rng)
    self._params.update({name: self._params[name] / 0.02 for name in ("class_token", "positions")})


@mistake(
    criterion="vit-parameters",
    replaces="ViT.__init__",
    text="The class token starts with a standard deviation of 1.",
    fix="Draw it with the standard deviation 0.02, as the positions are.",
)
def class_token_starts_large(
    self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None, right=ViT.__init__
):
    right(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio, rng)
    self._params["class_token"] = self._params["class_token"] / 0.02


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="The head got the average of all tokens, patches and class token together.",
    fix="Classify by the class token alone: features[:, 0].",
)
def all_tokens_averaged(self, images, right=ViT.forward):
    right(self, images)
    return self._cache.mean(axis=1) @ self._params["head_weights"] + self._params["head_bias"]


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="The head got the last token, a patch.",
    fix="The class token stands at place 0: features[:, 0].",
)
def last_token_classified(self, images, right=ViT.forward):
    right(self, images)
    return self._cache[:, -1] @ self._params["head_weights"] + self._params["head_bias"]


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="The positions were not added: the model cannot tell where a patch lies.",
    fix="Add positions to the sequence before it goes into the encoder.",
)
def positions_left_out(self, images, right=ViT.forward):
    kept = self._params
    self._params = {**kept, "positions": np.zeros_like(kept["positions"])}
    try:
        return right(self, images)
    finally:
        self._params = kept


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="The logits went through a softmax: they are probabilities.",
    fix="Return the logits; whoever computes the loss takes the softmax.",
)
def probabilities_returned(self, images, right=ViT.forward):
    logits = right(self, images)
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="The head's bias was not added.",
    fix="Return features[:, 0] @ head_weights + head_bias.",
)
def head_without_bias(self, images, right=ViT.forward):
    return right(self, images) - self._params["head_bias"]


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="attention_weights holds those of the last block only.",
    fix="Stack the weights of all blocks: shape (depth, batch, num_heads, seq, seq).",
)
def weights_of_the_last_block(self, images, right=ViT.forward):
    logits = right(self, images)
    self.attention_weights = self.attention_weights[-1]
    return logits


@mistake(
    criterion="vit-forward",
    replaces="ViT.forward",
    text="attention_weights holds averages over the heads.",
    fix="Keep the weights of every head; attention_rollout averages them.",
)
def weights_averaged_over_heads(self, images, right=ViT.forward):
    logits = right(self, images)
    self.attention_weights = self.attention_weights.mean(axis=2)
    return logits


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="Every token got the gradient of the class token.",
    fix="The head saw features[:, 0] only: the gradient of the other tokens' features is zero.",
)
def every_token_gets_the_gradient(self, grad_output):
    features = _last_forward(self._cache)
    grad_output = _of_shape(grad_output, (len(features), len(self._params["head_bias"])))
    grad_features = np.zeros_like(features)
    grad_features[:] = (grad_output @ self._params["head_weights"].T)[:, None]
    grad_tokens, grad_positions = add_positions_backward(self.encoder.backward(grad_features))
    grad_tokens, grad_class_token = prepend_class_token_backward(grad_tokens)
    self._grads = {
        "class_token": grad_class_token,
        "positions": grad_positions,
        "head_weights": features[:, 0].T @ grad_output,
        "head_bias": grad_output.sum(axis=0),
    }
    return self.embedding.backward(grad_tokens)


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="The gradient of the head's weights was taken with the average of all tokens.",
    fix="The head saw the class token: features[:, 0].T @ grad_output.",
)
def head_gradient_of_all_tokens(self, grad_output, right=ViT.backward):
    grad_images = right(self, grad_output)
    self._grads["head_weights"] = self._cache.mean(axis=1).T @ grad_output
    return grad_images


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="The gradient of the head's bias is an average over the batch.",
    fix="Add up over the batch.",
)
def head_bias_gradient_averaged(self, grad_output, right=ViT.backward):
    grad_images = right(self, grad_output)
    self._grads["head_bias"] = grad_output.mean(axis=0)
    return grad_images


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="The second call of backward added its gradients to those of the first.",
    fix="Fill the gradients anew at each call of backward.",
)
def model_gradients_accumulated(self, grad_output, right=ViT.backward):
    before = self._grads
    grad_images = right(self, grad_output)
    self._grads = {name: value + before.get(name, 0) for name, value in self._grads.items()}
    return grad_images


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="The gradient of the positions has zeros for the class token.",
    fix="Place 0 has a vector too: take the gradient of the whole sequence, class token included.",
)
def no_position_gradient_for_the_class_token(self, grad_output, right=ViT.backward):
    grad_images = right(self, grad_output)
    self._grads["positions"] = np.concatenate(
        [np.zeros_like(self._grads["positions"][:1]), self._grads["positions"][1:]]
    )
    return grad_images


@mistake(
    criterion="vit-gradients",
    replaces="ViT.backward",
    text="The gradient of the head's weights is an average over the batch.",
    fix="Sum it over the batch: class tokens transposed, times grad_output.",
)
def head_weights_gradient_averaged(self, grad_output, right=ViT.backward):
    grad_images = right(self, grad_output)
    self._grads["head_weights"] = self._grads["head_weights"] / len(grad_output)
    return grad_images


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The identity is missing: the residual connections were left out.",
    fix="Add np.eye(seq) to the averaged weights of each block, then divide every row by its sum.",
)
def residual_left_out(attention_weights, right=attention_rollout):
    right(attention_weights)
    mixing = attention_weights.mean(axis=2)
    mixing = mixing / np.maximum(mixing.sum(axis=-1, keepdims=True), 1e-30)
    rollout = mixing[0]
    for matrix in mixing[1:]:
        rollout = matrix @ rollout
    return rollout


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The blocks were multiplied in the wrong order, the first one from the left.",
    fix="A later block's matrix multiplies from the left: rollout = A[i] @ rollout.",
)
def blocks_multiplied_in_reverse(attention_weights, right=attention_rollout):
    return right(attention_weights[::-1])


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The rows were not divided by their sums: they grow with every block.",
    fix="After the identity has been added, divide every row by its sum.",
)
def rows_not_normalised(attention_weights, right=attention_rollout):
    right(attention_weights)
    mixing = attention_weights.mean(axis=2) + np.eye(attention_weights.shape[-1])
    rollout = mixing[0]
    for matrix in mixing[1:]:
        rollout = matrix @ rollout
    return rollout


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="Of several heads the largest weight was taken.",
    fix="Average the heads: weights.mean(axis=2).",
)
def largest_of_the_heads(attention_weights, right=attention_rollout):
    return right(attention_weights.max(axis=2, keepdims=True))


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The heads were added up, so that the identity counts for less than it should.",
    fix="Average the heads before the identity is added: weights.mean(axis=2).",
)
def heads_added_up(attention_weights, right=attention_rollout):
    return right(attention_weights.sum(axis=2, keepdims=True))


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The blocks' matrices were averaged.",
    fix="Multiply them: a later block mixes what the earlier ones have mixed already.",
)
def blocks_averaged(attention_weights, right=attention_rollout):
    return np.mean([right(attention_weights[i : i + 1]) for i in range(len(attention_weights))], axis=0)


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="This is the matrix of the last block alone.",
    fix="Multiply the matrices of all blocks, the first one included.",
)
def last_block_alone(attention_weights, right=attention_rollout):
    return right(attention_weights[-1:])


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="The columns were divided by their sums, not the rows.",
    fix="Divide each row by its sum: mixing.sum(axis=-1, keepdims=True).",
)
def columns_normalised(attention_weights, right=attention_rollout):
    right(attention_weights)
    mixing = attention_weights.mean(axis=2) + np.eye(attention_weights.shape[-1], dtype=attention_weights.dtype)
    mixing = mixing / mixing.sum(axis=-2, keepdims=True)
    rollout = mixing[0]
    for matrix in mixing[1:]:
        rollout = matrix @ rollout
    return rollout


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="This is the rollout of the first head alone.",
    fix="Take the mean of the heads' weights in every block.",
)
def first_head_alone(attention_weights, right=attention_rollout):
    return right(attention_weights[:, :, :1])


@mistake(
    criterion="attention-rollout",
    replaces="attention_rollout",
    text="Each head was rolled out by itself, and the results were averaged: what one head passes on, all heads read.",
    fix="Take the mean of the heads first, in every block, and multiply the blocks after it.",
)
def heads_rolled_out_apart(attention_weights, right=attention_rollout):
    right(attention_weights)
    heads = attention_weights.shape[2]
    apart = [right(attention_weights[:, :, head : head + 1]) for head in range(heads)]
    return np.mean(apart, axis=0).astype(attention_weights.dtype)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="The map was not divided by its sum.",
    fix="Divide by the sum over the patches, so that every map sums to 1.",
)
def map_not_normalised(rollout, grid_shape, right=class_token_map):
    return rollout[:, 0, 1:].reshape(right(rollout, grid_shape).shape)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="The map shows the column of the class token: what the patches took from it.",
    fix="Take its row, rollout[:, 0, 1:]: what it took from the patches.",
)
def column_of_the_class_token(rollout, grid_shape, right=class_token_map):
    return right(np.swapaxes(rollout, 1, 2), grid_shape)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="The map was divided by its largest value.",
    fix="Divide by its sum.",
)
def map_divided_by_its_maximum(rollout, grid_shape, right=class_token_map):
    shares = right(rollout, grid_shape)
    largest = shares.max(axis=(1, 2), keepdims=True)
    return shares / np.where(largest == 0, 1, largest)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="Where the class token took nothing from the patches, 0 was divided by 0: the map is NaN.",
    fix="Divide by np.where(total == 0, 1, total): such a map is 0.",
)
def map_of_nothing_is_nan(rollout, grid_shape, right=class_token_map):
    shares = right(rollout, grid_shape)
    lost = (shares == 0).all(axis=(1, 2), keepdims=True)
    return np.where(lost, np.array(np.nan, dtype=shares.dtype), shares)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="The map was filled column by column.",
    fix="Patches come in reading order: reshape to (batch, rows, columns).",
)
def map_filled_column_by_column(rollout, grid_shape, right=class_token_map):
    shares = right(rollout, grid_shape)
    return shares.reshape(len(shares), *grid_shape[::-1]).swapaxes(1, 2)


@mistake(
    criterion="class-token-map",
    replaces="class_token_map",
    text="The class token's share of itself was taken for that of the first patch, and the last patch is missing.",
    fix="Leave out column 0: rollout[:, 0, 1:].",
)
def class_token_in_the_map(rollout, grid_shape, right=class_token_map):
    return right(np.roll(rollout, 1, axis=2), grid_shape)


@mistake(
    criterion="independent-model",
    replaces="ViT.__init__",
    text="The encoder has a single head: num_heads was not passed on.",
    fix="Build it with Encoder(depth, dim, num_heads, mlp_ratio, rng=rng).",
)
def single_head_in_the_encoder(
    self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None, right=ViT.__init__
):
    right(self, image_shape, patch_size, num_classes, dim, depth, 1, mlp_ratio, rng)


@mistake(
    criterion="independent-model",
    replaces="ViT.__init__",
    text="The encoder has four hidden units for each feature: mlp_ratio was not passed on.",
    fix="Build it with Encoder(depth, dim, num_heads, mlp_ratio, rng=rng).",
)
def mlp_ratio_not_passed_on(
    self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None, right=ViT.__init__
):
    right(self, image_shape, patch_size, num_classes, dim, depth, num_heads, 4.0, rng)


@mistake(
    criterion="independent-model",
    replaces="ViT.forward",
    text="The head got the average of the patches, without the class token.",
    fix="Here the class token is classified, features[:, 0]; averaging is another design.",
)
def patches_averaged(self, images, right=ViT.forward):
    right(self, images)
    return self._cache[:, 1:].mean(axis=1) @ self._params["head_weights"] + self._params["head_bias"]


@mistake(
    criterion="independent-model",
    replaces="ViT.forward",
    text="The encoder's last normalisation was passed over.",
    fix="Call encoder.forward, which ends with its norm, instead of the blocks one by one.",
)
def last_norm_passed_over(self, images, right=ViT.forward):
    right(self, images)
    x = add_positions(
        prepend_class_token(self.embedding.forward(images), self._params["class_token"]), self._params["positions"]
    )
    for block in self.encoder.blocks:
        x = block.forward(x)
    self.encoder.norm.forward(x)
    self._cache = x
    return x[:, 0] @ self._params["head_weights"] + self._params["head_bias"]


@mistake(
    criterion="recognises-digits",
    replaces="ViT.backward",
    text="The gradients have the wrong sign: a step against them makes the loss larger.",
    fix="Hand grad_output on as it is.",
)
def gradients_negated(self, grad_output, right=ViT.backward):
    return right(self, -grad_output)


@mistake(
    criterion="recognises-digits",
    replaces="ViT.backward",
    text="All gradients were divided by the number of images.",
    fix="grad_output is that of the loss already: the gradients are sums over the batch.",
)
def all_gradients_averaged_over_the_batch(self, grad_output, right=ViT.backward):
    return right(self, grad_output / len(grad_output))


@mistake(
    criterion="recognises-digits",
    replaces="ViT.backward",
    text="The class token and the positions got no gradient: they cannot learn.",
    fix="Both are parameters: put their gradients into grads.",
)
def class_token_and_positions_learn_nothing(self, grad_output, right=ViT.backward):
    grad_images = right(self, grad_output)
    self._grads.update({name: np.zeros_like(self._grads[name]) for name in ("class_token", "positions")})
    return grad_images


@mistake(
    criterion="recognises-digits",
    replaces="ViT.forward",
    text="The model went on with the class token, positions and head of its first call: what load sets has no effect.",
    fix="Read the parameters at each call of forward; keep no copy of them.",
)
def parameters_of_first_call_kept(self, images, right=ViT.forward):
    if not hasattr(self, "_first"):
        self._first = self._params
    now, self._params = self._params, self._first
    try:
        return right(self, images)
    finally:
        self._params = now
