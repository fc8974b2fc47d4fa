using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>Distinguishes a step that cannot read the output of a map from a step that cannot read a received body.</summary>
internal static class MadeBodyFault
{
    public const string Code = "ESB-PROC-TYPE";

    /// <summary>The failure of a step that reads another document type than the preceding map produces; null for every other
    /// failure.</summary>
    public static EsbException? Of(Exception failure, MessageContext context, string step)
    {
        if (
            failure is not EsbException { Kind: FaultKind.Malformed } unreadable
            || context.Made is not { } made
            || made.Body != context.Message.Body
        )
            return null;
        return KindOf(unreadable.Code) is { } read && read != made.Kind
            ? new EsbException(
                Code,
                $"The step {step} reads {NameOf(read)}, and the map {made.Map} makes {NameOf(made.Kind)}: {unreadable.Message}",
                FaultKind.Internal,
                unreadable
            )
            : null;
    }

    public static string NameOf(MadeKind kind) =>
        kind switch
        {
            MadeKind.Xml => "XML",
            MadeKind.Json => "JSON",
            MadeKind.Html => "HTML",
            _ => "text",
        };

    private static MadeKind? KindOf(string code)
    {
        if (code.StartsWith("ESB-XML-", StringComparison.Ordinal))
            return MadeKind.Xml;
        return code.StartsWith("ESB-JSON-", StringComparison.Ordinal) ? MadeKind.Json : null;
    }
}
