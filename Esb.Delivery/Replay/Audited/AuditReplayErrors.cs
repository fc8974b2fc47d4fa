using System.Globalization;
using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Delivery.Replay.Audited;

/// <summary>The errors of messages that cannot be replayed from the audit (<c>ESB-RPL-STATE</c>).</summary>
internal static class AuditReplayErrors
{
    public static EsbException Unknown(Guid messageId) =>
        Refused($"Nothing is recorded of a message {messageId}; perhaps it is older than what is kept.", 404);

    public static EsbException Because(Guid messageId, string reason) =>
        Refused($"The message {messageId} cannot be replayed: {reason}.", 409);

    public static EsbException Already(AuditFact replay) =>
        Refused(
            string.Create(
                CultureInfo.InvariantCulture,
                $"The message {replay.MessageId} was replayed to '{replay.Endpoint}' already, at "
                    + $"{replay.Time.UtcDateTime:yyyy-MM-dd HH:mm:ss}Z by "
                    + $"{replay.Fields.GetValueOrDefault("operator", "somebody")}. Say again to send it all the same."
            ),
            409
        );

    private static EsbException Refused(string message, int status) => new("ESB-RPL-STATE", message, FaultKind.Invalid) { Status = status };
}
