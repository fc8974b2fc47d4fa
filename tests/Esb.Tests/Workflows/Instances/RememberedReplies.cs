using System.Collections.Concurrent;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Callers who outlive the process that answers them.</summary>
internal sealed class RememberedReplies : IReplyAddresses
{
    public ConcurrentQueue<(string Address, EsbMessage Reply)> Sent { get; } = [];

    public Task<AwaitedReply> AwaitAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken) =>
        throw new NotSupportedException("The callers are elsewhere.");

    public ValueTask<bool> ReplyAsync(string address, EsbMessage reply, CancellationToken cancellationToken)
    {
        Sent.Enqueue((address, reply));
        return ValueTask.FromResult(true);
    }
}
