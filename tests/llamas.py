"""Small models of `transformers` with random weights, in double precision through and through."""

import torch
import transformers
from torch import nn

SIZES = dict(
    vocab_size=30, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=64, rms_norm_eps=1e-5, bos_token_id=2, eos_token_id=3,
)  # fmt: skip


class Precise(nn.Module):
    """Their model, whose float32 islands (angles, norms) are float64 here."""

    def __init__(self, kind, **changes):  # kind: "Llama" or "Qwen3"
        super().__init__()
        config = getattr(transformers, f"{kind}Config")(**SIZES | changes)
        torch.manual_seed(0)
        model = getattr(transformers, f"{kind}ForCausalLM")(config).double().eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(torch.randn_like(p) / 3)
        for name, module in list(model.named_modules()):
            if type(module).__name__ == f"{kind}RMSNorm":
                norm = nn.RMSNorm(module.weight.shape, eps=module.variance_epsilon)
                norm.weight = module.weight
                model.set_submodule(name, norm)
        turn = model.model.rotary_emb
        even = torch.arange(0, config.head_dim, 2, dtype=torch.float64) / config.head_dim
        turn.inv_freq = config.rope_parameters["rope_theta"] ** -even
        turn.forward = self.angles
        self.model, self.config = model, config
        self.again = lambda: Precise(kind, **changes)

    def angles(self, x, position_ids):
        freqs = position_ids[..., None].double() * self.model.model.rotary_emb.inv_freq
        emb = torch.cat([freqs, freqs], dim=-1)
        return emb.cos(), emb.sin()

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)
