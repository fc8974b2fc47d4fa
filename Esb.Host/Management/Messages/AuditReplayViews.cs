namespace Esb.Host.Management.Messages;

/// <summary>What a replay by a filter would send.</summary>
/// <param name="Messages">How many messages the filter finds.</param>
/// <param name="HasMore">Whether there are more than were counted.</param>
/// <param name="Obstacle">What would keep all of them from being sent; null where nothing does.</param>
internal sealed record AuditReplayPreview(int Messages, bool HasMore, string? Obstacle);

/// <summary>What a part of a replay by a filter has done.</summary>
/// <param name="Replayed">How many messages were sent.</param>
/// <param name="Refused">Which were not, and why.</param>
/// <param name="Next">What <c>before</c> has to be for the next part; null at the end.</param>
/// <param name="First">What <c>first</c> has to be for all further parts; null where nothing was found.</param>
internal sealed record AuditReplayReceipt(int Replayed, IReadOnlyList<RefusedReplay> Refused, Guid? Next, Guid? First);

/// <summary>A message that was not replayed.</summary>
internal sealed record RefusedReplay(Guid MessageId, string Code, string Reason);
