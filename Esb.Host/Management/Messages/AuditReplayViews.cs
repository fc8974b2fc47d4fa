namespace Esb.Host.Management.Messages;

/// <summary>The preview of a replay by a filter.</summary>
/// <param name="Messages">The number of messages that match the filter.</param>
/// <param name="HasMore">True if there are more messages than counted.</param>
/// <param name="Obstacle">The reason why none of them can be sent; null if they can.</param>
internal sealed record AuditReplayPreview(int Messages, bool HasMore, string? Obstacle);

/// <summary>The result of one part of a replay by a filter.</summary>
/// <param name="Replayed">The number of messages sent.</param>
/// <param name="Refused">The messages that were not sent, with the reasons.</param>
/// <param name="Next">The value of <c>before</c> for the next part; null at the end.</param>
/// <param name="First">The value of <c>first</c> for all further parts; null if nothing was found.</param>
internal sealed record AuditReplayReceipt(int Replayed, IReadOnlyList<RefusedReplay> Refused, Guid? Next, Guid? First);

/// <summary>A message that was not replayed.</summary>
internal sealed record RefusedReplay(Guid MessageId, string Code, string Reason);
