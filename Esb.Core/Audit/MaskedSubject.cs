namespace Esb.Core.Audit;

/// <summary>What the texts of a flow of control are about: a message, or several at once. Thread-safe, but for its flow itself, which keeps secrets.</summary>
public sealed class MaskedSubject
{
    private readonly Func<MaskedSecrets> _find;
    private MaskedSecrets _kept = MaskedSecrets.None;

    internal MaskedSubject(Func<MaskedSecrets> find) => _find = find;

    internal MaskedSecrets Secrets => _find().And(Volatile.Read(ref _kept));

    /// <summary>What is secret now stays so.</summary>
    internal void Keep() => Volatile.Write(ref _kept, Secrets);
}
