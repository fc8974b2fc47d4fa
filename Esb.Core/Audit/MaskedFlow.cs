using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Audit;

/// <summary>Which message the current flow of control works on, so that texts about it (failures, lines of the log) are written without what is masked in it.</summary>
/// <remarks>Begun inside an asynchronous method, it ends with that method. Without masks nothing is followed, and it costs nothing.</remarks>
public static class MaskedFlow
{
    private static readonly AsyncLocal<Followed?> Current = new();

    /// <summary>From here on texts are about this message, as it came in and as it is by then.</summary>
    public static void Follow(IMessageMask mask, MessageContext context)
    {
        if (!mask.IsEmpty) Current.Value = new Followed(mask, context.Received, context);
    }

    /// <summary>From here on texts are about this message.</summary>
    public static void Follow(IMessageMask mask, EsbMessage message)
    {
        if (!mask.IsEmpty) Current.Value = new Followed(mask, message, null);
    }

    /// <summary>A text without what is masked in the message that is worked on here.</summary>
    public static string Clean(string text) => Current.Value is { } followed && text.Length > 0 ? followed.Secrets.Remove(text) : text;

    private sealed record Followed(IMessageMask Mask, EsbMessage Received, MessageContext? Context)
    {
        public MaskedSecrets Secrets
        {
            get
            {
                var secrets = Mask.Apply(Received).Secrets;
                return Context?.Message is { } changed && !ReferenceEquals(changed, Received) ? secrets.And(Mask.Apply(changed).Secrets) : secrets;
            }
        }
    }
}
