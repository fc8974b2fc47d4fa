namespace Esb.Core.Audit;

/// <summary>What the texts of a flow of control are about: a message, or several at once. Thread-safe.</summary>
public sealed class MaskedSubject
{
    private readonly Func<MaskedSecrets> _find;

    internal MaskedSubject(Func<MaskedSecrets> find) => _find = find;

    internal MaskedSecrets Secrets => _find();
}
