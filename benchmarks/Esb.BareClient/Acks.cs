using RabbitMQ.Client;

namespace Esb.BareClient;

/// <summary>Acknowledges one by one, or several at once when all before them are done. Used by one channel.</summary>
internal sealed class Acks(IChannel channel, int group)
{
    private readonly Lock _gate = new();
    private readonly HashSet<ulong> _done = [];
    private ulong _acked;
    private ulong _next = 1;

    public ValueTask DoneAsync(ulong tag)
    {
        if (group <= 1)
            return channel.BasicAckAsync(tag, multiple: false);
        lock (_gate)
        {
            _done.Add(tag);
            while (_done.Remove(_next))
                _next++;
            if (_next - 1 - _acked < (ulong)group)
                return ValueTask.CompletedTask;
            _acked = _next - 1;
            return channel.BasicAckAsync(_acked, multiple: true);
        }
    }
}
