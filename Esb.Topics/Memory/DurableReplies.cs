using System.Diagnostics.CodeAnalysis;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>Replies to requests that outlive the process which sent them. Their addresses are the same in each process.
/// Thread-safe.</summary>
internal sealed class DurableReplies(TimeProvider time)
{
    private const string Prefix = "durable ";

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private volatile ReplyHandler? _handler;
    private volatile bool _isClosed;

    public ITopicReader Receive(ReplyHandler handler)
    {
        (_isClosed, _handler) = (false, handler);
        return new Reader(this);
    }

    public static string AddressOf(Guid request) => $"{Prefix}{request}";

    /// <summary>The request of an address; false if it is that of a requester of this process.</summary>
    public static bool TryParse(string address, [NotNullWhen(true)] out Guid? request)
    {
        request =
            address.StartsWith(Prefix, StringComparison.Ordinal) && Guid.TryParse(address.AsSpan(Prefix.Length), out var id) ? id : null;
        return request is not null;
    }

    /// <summary>Hands a reply over, once it is taken: the request is settled behind it. False if this process takes no replies; while it
    /// stops, the request stays unsettled, so that the next process sends it again.</summary>
    public async ValueTask<bool> ReplyAsync(Guid request, EsbMessage reply, CancellationToken cancellationToken)
    {
        MemoryMessage.Worked.Value = null; // what follows from the reply is no part of the request
        while (_handler is not null || _isClosed)
        {
            try
            {
                if (_handler is { } handler)
                {
                    await handler(request, reply, cancellationToken);
                    return true;
                }
            }
            catch (Exception ex)
                when (ex is EsbException || (ex is OperationCanceledException && !cancellationToken.IsCancellationRequested))
            {
                // The store is away, or the bus stops.
            }

            await Task.Delay(Pause, time, cancellationToken);
        }

        TopicsTelemetry.CountReplyAbandoned();
        return false;
    }

    private sealed class Reader(DurableReplies replies) : ITopicReader
    {
        public bool IsLive => replies._handler is not null;

        public ValueTask DisposeAsync()
        {
            (replies._isClosed, replies._handler) = (true, null);
            return ValueTask.CompletedTask;
        }
    }
}
