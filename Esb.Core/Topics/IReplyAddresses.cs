using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Addresses of requesters as texts: any host reaches the requester by one, also after the process that took the request has
/// ended. Thread-safe.</summary>
public interface IReplyAddresses
{
    /// <summary>Begins to wait for the reply to a request that reaches its receiver by another way than this transport.</summary>
    /// <param name="request">The request; its id correlates the reply.</param>
    /// <param name="timeout">How long a reply is of use, from now on.</param>
    /// <param name="cancellationToken">Cancels the preparation.</param>
    /// <returns>The address; disposed when nobody waits any more.</returns>
    /// <exception cref="EsbException">Transient: replies cannot be received.</exception>
    Task<AwaitedReply> AwaitAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken);

    /// <summary>Sends a reply; tries again until it is accepted or the requester waits no longer.</summary>
    /// <param name="address">Of <see cref="AwaitedReply"/>, or <see cref="TopicDelivery.ReplyAddress"/>.</param>
    /// <param name="reply">The reply.</param>
    /// <param name="cancellationToken">Cancels the attempts.</param>
    /// <returns>False if no requester waits for it any more.</returns>
    ValueTask<bool> ReplyAsync(string address, EsbMessage reply, CancellationToken cancellationToken);
}

/// <summary>A reply that a requester waits for. Disposing it ends the wait.</summary>
/// <param name="address">Where the reply goes.</param>
/// <param name="wait">Waits for the reply.</param>
/// <param name="end">Ends the wait.</param>
public sealed class AwaitedReply(string address, Func<CancellationToken, Task<EsbMessage>> wait, Action end) : IDisposable
{
    /// <summary>Where the reply goes.</summary>
    public string Address => address;

    /// <summary>Waits for the reply.</summary>
    /// <exception cref="EsbException">The time is over, or the reply can no longer arrive.</exception>
    public Task<EsbMessage> WaitAsync(CancellationToken cancellationToken) => wait(cancellationToken);

    /// <inheritdoc/>
    public void Dispose() => end();
}
