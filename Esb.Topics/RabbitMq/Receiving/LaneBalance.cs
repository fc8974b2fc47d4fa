using Esb.Topics.RabbitMq.Farm;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Hands lanes over to the hosts that they are best worked on, whenever one comes, goes or begins anew.</summary>
/// <remarks>
/// The broker keeps the consumers of a lane in the order in which they came and makes the first one active. So whoever is not meant to work on a
/// lane goes to the end of that line, once, after the one who is meant to has joined it: that one is the first then. Being told too late, or
/// something else than others, costs balance, never order: that is the broker's.
/// </remarks>
internal sealed class LaneBalance(string endpoint, IReadOnlyList<LaneConsumer> lanes, BrokerFarm farm, TimeProvider time)
{
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(1); // hosts often come together

    private readonly (Guid Host, Guid? Epoch)[] _meant = new (Guid, Guid?)[lanes.Count];

    /// <summary>Hands over until it is stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        var changed = new SemaphoreSlim(1); // not disposed: it may be told once more behind the end, and holds nothing to free
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
                    // All that changed meanwhile is seen at once.
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
        var hosts = farm.Members.ReceiversOf(endpoint)
            .Where(receiver => receiver.Receiver.Epoch is not null)
            .ToDictionary(receiver => receiver.Host, receiver => receiver.Receiver.Epoch);
        var shares = LaneShares.Of(endpoint, lanes.Count, hosts.Keys);
        for (var lane = 0; lane < shares.Count; lane++)
        {
            var meant = (shares[lane], hosts[shares[lane]]);
            if (_meant[lane] == meant) continue;
            _meant[lane] = meant;
            if (shares[lane] != farm.Self.Id) await lanes[lane].HandOverAsync();
        }
    }
}
