using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Audit;

/// <summary>Which message the current flow of control works on, so that texts about it (failures, lines of the log, spans) are written without what is masked in it.</summary>
/// <remarks>Begun inside an asynchronous method, it ends with that method. Without masks nothing is followed, and it costs nothing.</remarks>
public static class MaskedFlow
{
    private static readonly AsyncLocal<MaskedSubject?> Current = new();

    /// <summary>What texts are about here, for another flow that does this one's work too; null where nothing is masked.</summary>
    public static MaskedSubject? Subject => Current.Value;

    /// <summary>From here on texts are about this message, as it came in and as it is by then.</summary>
    public static void Follow(IMessageMask mask, MessageContext context)
    {
        if (!mask.IsEmpty) Current.Value = new MaskedSubject(() => SecretsOf(mask, context));
    }

    /// <summary>From here on texts are about this message.</summary>
    public static void Follow(IMessageMask mask, EsbMessage message)
    {
        if (!mask.IsEmpty) Current.Value = new MaskedSubject(() => mask.Apply(message).Secrets);
    }

    /// <summary>From here on texts are about what other flows work on, which this one does for all of them; those without a subject are left out.</summary>
    public static void Follow(IEnumerable<MaskedSubject?> subjects)
    {
        var all = subjects.OfType<MaskedSubject>().ToList();
        if (all.Count > 0) Current.Value = new MaskedSubject(() => all.Aggregate(MaskedSecrets.None, (secrets, subject) => secrets.And(subject.Secrets)));
    }

    /// <summary>What is masked in the message that is worked on here.</summary>
    public static MaskedSecrets Secrets
    {
        get
        {
            if (Current.Value is not { } subject) return MaskedSecrets.None;
            Current.Value = null; // what is found unreadable meanwhile is told in texts too, which nobody hears of
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

    /// <summary>From here on texts are also about the message as it is now, whatever becomes of it: what failed may quote it.</summary>
    public static void Keep() => Current.Value?.Keep();

    /// <summary>A text without what is masked in the message that is worked on here.</summary>
    public static string Clean(string text) => text.Length > 0 ? Secrets.Remove(text) : text;

    /// <summary>The beginning of a text without what is masked in the message that is worked on here; an ellipsis stands for the rest.</summary>
    /// <remarks>In this order: of a secret that is cut off nobody would know the beginning again.</remarks>
    public static string Excerpt(string text, int longest)
    {
        var clean = Clean(text);
        return clean.Length <= longest ? clean : clean[..longest] + "…";
    }

    private static MaskedSecrets SecretsOf(IMessageMask mask, MessageContext context)
    {
        var secrets = mask.Apply(context.Received).Secrets;
        return ReferenceEquals(context.Message, context.Received) ? secrets : secrets.And(mask.Apply(context.Message).Secrets);
    }
}
