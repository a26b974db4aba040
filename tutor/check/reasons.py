"""What an exception of Python or PyTorch means in plain words, and the way out.

The messages change between versions; what matches no pattern gets no reason, which does no harm.
"""

import re

# (what is looked for in "ValueError: message", the reason, with the pattern's groups)
REASONS = [
    # names and calls
    (
        r"^NameError: name '(.+?)' is not defined",
        "Nothing is called `{0}` here: look at its spelling, or at the cell that should define it.",
    ),
    (
        r"^UnboundLocalError: .*local variable '(.+?)'",
        "`{0}` is used before it gets a value inside the function.",
    ),
    (
        r"missing \d+ required .*arguments?: (.+)",
        "A call leaves out {0}. If it is your own function, it must take the arguments of the "
        "task, no more.",
    ),
    (
        r"takes .*\d+ positional arguments? but \d+ (?:was|were) given",
        "A call hands over more than the function takes. If it is your own function, it needs "
        "every argument of the task.",
    ),
    (
        r"got an unexpected keyword argument '(.+?)'",
        "That function has no argument named `{0}`.",
    ),
    # None, lists and numbers where a tensor is expected
    (
        r"'NoneType' object|'NoneType'|not NoneType",
        "Something in that line is None: a function without `return`, a method that works in "
        "place, or an argument that was left out.",
    ),
    (
        r"'(.+?)' object is not callable",
        "Brackets after a name call it, and this is of type {0}: an index stands in `[ ]`, a "
        "product needs `*`.",
    ),
    (
        r"^TypeError: (.+?)\(\): argument .* must be Tensor, not (int|float)",
        "`torch.{0}` takes tensors, and this is a plain number: use `math.{0}`, or `** 0.5` for a "
        "root.",
    ),
    (
        r"must be Tensor, not (\w+)|expected Tensor as element \d+ .*got (\w+)",
        "PyTorch's functions take tensors, and this is of type {0}: `torch.tensor(...)` or "
        "`torch.stack(...)` makes one.",
    ),
    (
        r"'(list|tuple|int|float|str|dict|bool)' object has no attribute '(.+?)'",
        "What has the type {0} has no `{1}`: a tensor, or another type, should stand there.",
    ),
    (
        r"object has no attribute '(.+?)'",
        "Nothing is called `{0}` there: look at its spelling, and at what stands before the dot.",
    ),
    (
        r"'(int|float)' object is not (?:iterable|subscriptable)",
        "One number has no items to loop over or to pick: put it into a list, as `[x]`, or use "
        "`range(x)`.",
    ),
    (
        r"object of type '(.+?)' has no len\(\)",
        "`len` counts the items of a list, a text or a tensor, and this is of type {0}.",
    ),
    (
        r"unsupported operand type\(s\) for &: 'list'",
        "`&` and `|` join sets or boolean tensors, not lists: make `set(...)` of each.",
    ),
    (
        r"unsupported operand type\(s\) for (.+?): '(.+?)' and '(.+?)'",
        "`{0}` does not work between the types {1} and {2}. A function may return several things, "
        "of which you need one.",
    ),
    (
        r"can only concatenate (\w+) \(not \"(\w+)\"\) to",
        "`+` joins {0} and {0}, and one side has the type {1}. Of a tuple, take the item that you "
        "mean.",
    ),
    (
        r"'(.+?)' not supported between instances of '(.+?)' and '(.+?)'",
        "`{0}` cannot compare the types {1} and {2}: compare number with number.",
    ),
    (
        r"(?:list|tuple) indices must be|only integer tensors of a single element can be conv",
        "A list is indexed with one whole number: make a tensor of it, or loop over the indices.",
    ),
    (
        r"'float' object cannot be interpreted as an integer|slice indices must be integers"
        r"|must be tuple of ints, not float",
        "`/` gives a float, and counts and places are whole numbers: divide with `//`.",
    ),
    (
        r"unhashable type: '(.+?)'",
        "A key of a dict or an item of a set cannot have the type {0}: use a tuple or a number.",
    ),
    # numbers of items, keys, places
    (
        r"not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)",
        "The left side has {0} names and only {1} came. If it is a shape, the tensor may have "
        "fewer dimensions in front: `X.shape[-2:]` takes the last two.",
    ),
    (
        r"too many values to unpack \(expected (\d+)",
        "The left side has {0} names and more values came. If it is a shape, the tensor may have "
        "more dimensions in front: `X.shape[-2:]` takes the last two.",
    ),
    (
        r"^KeyError: (.+)",
        "The dict has no entry for {0}: ask first with `in`, or use `.get(key, 0)`.",
    ),
    (
        r"^IndexError: (?:list|string|tuple) index out of range|index is out of range",
        "The place lies behind the end: a loop that reads `x[i + 1]` stops one step earlier, and "
        "something empty has no place at all.",
    ),
    (
        r"index out of range in self",
        "An index is too large for the table, or negative: compare it with the number of rows.",
    ),
    (
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "Dimension {1} has {2} entries, counted from 0, so there is no place {0}: it may be "
        "another dimension that you mean.",
    ),
    (
        r"Dimension out of range .*got (-?\d+)\)",
        "This tensor has no dimension {0}: negative numbers count from the end, and hold with "
        "more dimensions in front.",
    ),
    (
        r"expected sequence of length (\d+) at dim \d+ \(got (\d+)\)",
        "The rows have different lengths, {0} and {1}: pad the short ones, then make the tensor.",
    ),
    # shapes
    (
        r"mat1 and mat2 shapes cannot be multiplied \((.+?) and (.+?)\)",
        "The left matrix is {0}, the right one {1}: the left one needs as many columns as the "
        "right one has rows. A transpose or another order may be missing.",
    ),
    (
        r"first two dimensions of batch2 tensor to be: (\[.+?\]) but got: (\[.+?\])",
        "Of a batch of products, the right side should be {0} and is {1}: `.mT` turns the last two "
        "dimensions.",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) .*dimension (\d+)",
        "The two sides have {0} and {1} numbers in dimension {2}: they must be equal, or one of "
        "them 1. `keepdim=True` or `[..., None]` keeps a 1.",
    ),
    (
        r"(self|mat2|batch1|batch2|input) must be a (matrix|2D tensor|3D tensor)",
        "This function takes a {1} and nothing else: `@` also works with more dimensions in front.",
    ),
    (
        r"view size is not compatible",
        "`view` cannot cut what a transpose has reordered: use `reshape`, or `contiguous()` first.",
    ),
    (
        r"shape '(.+?)' is invalid for input of size (\d+)",
        "{1} numbers do not fill the shape {0}: multiply its sizes and compare.",
    ),
    (
        r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        "What should be {0} long is {1} long: only a dimension of size 1 can be stretched.",
    ),
    (
        r"must have same number of dimensions: got (\d+) and (\d+)",
        "One tensor has {0} dimensions, the other {1}: `[None]` or `[:, None]` adds one.",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+)|each tensor to be equal size",
        "These tensors do not fit together: all sizes must be equal, but for the dimension that "
        "`torch.cat` joins.",
    ),
    (
        r"shape of the mask (\[.+?\]) at index \d+ does not match .* tensor (\[.+?\])",
        "A mask picks from a tensor of its own shape, and here it is {0} for {1}.",
    ),
    (
        r"shape of the 2D attn_mask is torch.Size\((.+?)\), but should be \((.+?)\)",
        "`attn_mask` is ({1}), queries by keys, and here it is {0}. What hides words of each "
        "sentence is `key_padding_mask`.",
    ),
    (
        r"Expected target size (\[.+?\]), got (\[.+?\])",
        "`cross_entropy` wants the classes in dimension 1: flatten both, as "
        "`z.flatten(0, 1)` and `targets.flatten()` do.",
    ),
    (
        r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        "There are {0} rows of scores and {1} targets: each row needs one.",
    ),
    # dtypes
    (
        r"have (?:the )?same dtype, but (?:got|found):? (.+?) (?:!=|and) (.+)"
        r"|expected scalar type (\w+) but found (\w+)",
        "One tensor holds {0}, the other {1}: give both one dtype, as `.float()` or `.to(W.dtype)`"
        " does.",
    ),
    (
        r"tensors used as indices must be long|one of the following scalar types: Long, Int",
        "Indices are whole numbers or booleans, and these are floats: `.long()` makes ids, `> 0` "
        "makes a mask.",
    ),
    (
        r"expected target dtype to be Long|expected scalar type Long",
        "Targets are ids: make them whole numbers with `.long()`.",
    ),
    (
        r"not implemented for '(Long|Int|Bool)'|Input dtype must be either a floating point",
        "That needs floats, and the tensor holds whole numbers or booleans: `.float()` first.",
    ),
    (
        r"only supports? boolean masks|to be a boolean tensor|only implemented on integer and Bool"
        r"|not implemented for 'Float'|only bool and floating types of key_padding_mask",
        "A mask is a boolean tensor, of True and False: compare, as `mask == 1`, or call "
        "`.bool()`.",
    ),
    (
        r"Boolean value of Tensor|truth value of an array",
        "`if`, `and`, `not` and `bool` want one answer, and a whole tensor has many: "
        "`torch.equal(a, b)`, `.all()` or `.any()` makes one of them.",
    ),
    (
        r"only one element tensors can be converted|elements cannot be converted to Scalar",
        "A tensor of several numbers is not one number: `math` and `float` take one, the functions "
        "of `torch` take all.",
    ),
    # gradients, and parts of PyTorch
    (
        r"backward through the graph a second time",
        "One result has one backward pass. Compute the result anew before the next one, or keep it "
        "with `retain_graph=True`; what is carried from step to step needs `.detach()`.",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "No gradient leads back from here: `.detach()`, `.data`, `.item()` or `torch.no_grad()` "
        "has cut it off.",
    ),
    (
        r"grad can be implicitly created only for scalar",
        "`backward()` starts from one number: take the `.mean()` or `.sum()` first.",
    ),
    (
        r"leaf Variable that requires grad is being used in an in-place",
        "A parameter cannot be changed in place while gradients are recorded: do it under "
        "`torch.no_grad()`.",
    ),
    (
        r"output of a function that returns multiple views",
        "A loop over a tensor, `unbind`, `split` and `chunk` give views, into which nobody can "
        "write where gradients flow. Write into the tensor itself, as `X[n, t] = ...` does.",
    ),
    (
        r"Need attn_mask if specifying the is_causal hint",
        "`is_causal=True` is a promise about `attn_mask`, not a mask: hand over the mask too.",
    ),
    (
        r"cannot assign '.+?' as parameter '(.+?)'",
        "`{0}` is a parameter: wrap the new value, as `nn.Parameter(...)`.",
    ),
    (
        r"before Module.__init__\(\) call",
        "The class needs `super().__init__()` as the first line of its `__init__`.",
    ),
    # bytes and texts
    (
        r"^JSONDecodeError: ",
        "What is read is no whole piece of JSON: too few bytes, too many, or the wrong ones.",
    ),
    (
        r"buffer length \((\d+)(?: bytes)?\)",
        "From these {0} bytes no tensor can be made: cut them with the right start and end.",
    ),
    (
        r"codec can't decode",
        "These bytes end in the middle of a letter: join all of them before you decode.",
    ),
]


def reason(raised):
    """What an exception means, in one or two sentences; "" if we do not know it."""
    said = f"{raised.kind}: {raised.message}"
    for pattern, words in REASONS:
        found = re.search(pattern, said)
        if found:
            return words.format(*(group for group in found.groups() if group is not None))
    return ""
