using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Audit;

/// <summary>Tracks the message that the current flow of control processes, so that texts about it (failures, log lines, spans) are
/// masked.</summary>
/// <remarks>Tracking that begins in an asynchronous method ends with that method. Without masks nothing is tracked, at no cost.</remarks>
public static class MaskedFlow
{
    private static readonly AsyncLocal<MaskedSubject?> Current = new();

    /// <summary>Subject of texts in this flow, for another flow that does its work too; null if nothing is masked.</summary>
    public static MaskedSubject? Subject => Current.Value;

    /// <summary>Masks texts from here on by this message, as received and as it is by then.</summary>
    public static void Follow(IMessageMask mask, MessageContext context)
    {
        if (!mask.IsEmpty)
            Current.Value = new MaskedSubject(() => SecretsOf(mask, context), mask);
    }

    /// <summary>Masks texts from here on by this message.</summary>
    public static void Follow(IMessageMask mask, EsbMessage message)
    {
        if (!mask.IsEmpty)
            Current.Value = new MaskedSubject(() => mask.Apply(message).Secrets, mask);
    }

    /// <summary>Masks texts from here on also by a part of the message, as it was made and as it is by then: its format may be another, in
    /// which secrets are found that the whole does not show.</summary>
    /// <param name="part">The context of the part.</param>
    public static void Include(MessageContext part)
    {
        if (Current.Value is not { Mask: { } mask } whole)
            return;
        var made = part.Message;
        Current.Value = new MaskedSubject(() => whole.Secrets.And(SecretsOf(mask, made, part.Message)), mask);
    }

    /// <summary>Masks texts from here on by the subjects of other flows, whose work this flow does; null subjects are skipped.</summary>
    public static void Follow(IEnumerable<MaskedSubject?> subjects)
    {
        var all = subjects.OfType<MaskedSubject>().ToList();
        if (all.Count > 0)
            Current.Value = new MaskedSubject(
                () => all.Aggregate(MaskedSecrets.None, (secrets, subject) => secrets.And(subject.Secrets)),
                all[0].Mask
            );
    }

    /// <summary>Secrets of the message being processed.</summary>
    public static MaskedSecrets Secrets
    {
        get
        {
            if (Current.Value is not { } subject)
                return MaskedSecrets.None;
            Current.Value = null; // parse errors raised meanwhile produce texts too, which are discarded
            try
            {
                return subject.Secrets;
            }
            finally
            {
                Current.Value = subject;
            }
        }
    }

    /// <summary>Another message of this flow, such as an answer, as it may be recorded.</summary>
    public static MaskedMessage Show(EsbMessage message)
    {
        if (Current.Value is not { Mask: { } mask } subject)
            return MaskedMessage.Unmasked(message);
        Current.Value = null; // as for the secrets
        try
        {
            return mask.Apply(message);
        }
        finally
        {
            Current.Value = subject;
        }
    }

    /// <summary>Keeps masking the message's current content, even if the message is replaced: a failure may quote it.</summary>
    public static void Keep() => Current.Value?.Keep();

    /// <summary>Removes the secrets of the message being processed from a text.</summary>
    public static string Clean(string text) => text.Length > 0 ? Secrets.Remove(text) : text;

    /// <summary>Beginning of a text, without the secrets of the message being processed; an ellipsis replaces the rest.</summary>
    /// <remarks>Masks before it cuts: a truncated secret would not be recognised.</remarks>
    public static string Excerpt(string text, int longest)
    {
        var clean = Clean(text);
        return clean.Length <= longest ? clean : clean[..longest] + "…";
    }

    private static MaskedSecrets SecretsOf(IMessageMask mask, MessageContext context) => SecretsOf(mask, context.Received, context.Message);

    private static MaskedSecrets SecretsOf(IMessageMask mask, EsbMessage first, EsbMessage last)
    {
        var secrets = mask.Apply(first).Secrets;
        return ReferenceEquals(first, last) ? secrets : secrets.And(mask.Apply(last).Secrets);
    }
}
