using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>An unconfirmed publish; completes with its outcome.</summary>
/// <param name="began">The timestamp at which its publisher began to wait.</param>
/// <param name="deadline">The timestamp by which the outcome must be known.</param>
internal sealed class PendingConfirm(long began, long deadline)
    : TaskCompletionSource<PublishResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public long Began => began;

    public long Deadline => deadline;
}
