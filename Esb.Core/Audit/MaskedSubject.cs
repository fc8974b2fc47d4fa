namespace Esb.Core.Audit;

/// <summary>Subject of the texts in a flow of control: one message, or several. Thread-safe, except that only its own flow may keep
/// secrets.</summary>
public sealed class MaskedSubject
{
    private readonly Func<MaskedSecrets> _find;
    private MaskedSecrets _kept = MaskedSecrets.None;

    internal MaskedSubject(Func<MaskedSecrets> find, IMessageMask? mask)
    {
        _find = find;
        Mask = mask;
    }

    /// <summary>The mask that applies to its messages; null if unknown.</summary>
    internal IMessageMask? Mask { get; }

    internal MaskedSecrets Secrets => _find().And(Volatile.Read(ref _kept));

    /// <summary>Keeps the current secrets masked from now on.</summary>
    internal void Keep() => Volatile.Write(ref _kept, Secrets);
}
