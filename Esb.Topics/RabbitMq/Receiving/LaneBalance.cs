using Esb.Topics.RabbitMq.Farm;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Moves lanes to their preferred hosts whenever a host joins, leaves or starts to consume anew.</summary>
/// <remarks>
/// The broker orders the consumers of a lane by arrival and makes the first one active. A host that is not preferred for a lane therefore
/// moves to the end of that line, once, after the preferred host has joined: the preferred host is then the first. Late or inconsistent
/// information about the hosts costs balance, never order: the broker guarantees the order.
/// </remarks>
internal sealed class LaneBalance(string endpoint, IReadOnlyList<LaneConsumer> lanes, BrokerFarm farm, TimeProvider time)
{
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(1); // hosts often join together

    private readonly (Guid Host, Guid? Epoch)[] _meant = new (Guid, Guid?)[lanes.Count];

    /// <summary>Moves lanes until stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        var changed = new SemaphoreSlim(1); // not disposed: it may be signalled after the end, and holds nothing to free
        Action note = () => changed.Release();
        farm.Members.Changed += note;
        try
        {
            while (true)
            {
                await changed.WaitAsync(stopping);
                await Task.Delay(Settling, time, stopping);
                while (changed.Wait(0, stopping))
                {
                    // All changes made meanwhile are handled at once.
                }

                await BalanceAsync();
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The receiver ended.
        }
        finally
        {
            farm.Members.Changed -= note;
        }
    }

    private async Task BalanceAsync()
    {
        var hosts = farm
            .Members.ProvenReceiversOf(endpoint)
            .Where(receiver => receiver.Receiver.Epoch is not null)
            .ToDictionary(receiver => receiver.Host, receiver => receiver.Receiver.Epoch);
        var shares = LaneShares.Of(endpoint, lanes.Count, hosts.Keys);
        for (var lane = 0; lane < shares.Count; lane++)
        {
            var meant = (shares[lane], hosts[shares[lane]]);
            if (_meant[lane] == meant)
                continue;
            _meant[lane] = meant;
            if (shares[lane] != farm.Self.Id)
                await lanes[lane].HandOverAsync();
        }
    }
}
