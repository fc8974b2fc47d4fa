using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>A publish on its way: its outcome, once that is known.</summary>
/// <param name="began">When its publisher began to wait, as a timestamp.</param>
/// <param name="deadline">Until when it has to be known, as a timestamp.</param>
internal sealed class PendingConfirm(long began, long deadline) : TaskCompletionSource<PublishResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public long Began => began;

    public long Deadline => deadline;
}
