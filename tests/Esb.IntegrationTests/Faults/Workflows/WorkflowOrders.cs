using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>Sends orders at a pace, each of which starts an instance, to whatever host runs just then.</summary>
internal sealed class WorkflowOrders(WorkflowBench bench)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    private readonly ConcurrentBag<string> _accepted = [];
    private int _number;

    /// <summary>Orders that the host has accepted: each must have its effects. Whether another one has them is not known.</summary>
    public IReadOnlyCollection<string> Accepted => _accepted;

    /// <summary>Sends until so many were accepted.</summary>
    public async Task RunAsync(int orders, int perSecond, CancellationToken cancellationToken)
    {
        using var pace = new PeriodicTimer(TimeSpan.FromSeconds(1.0 / perSecond));
        while (_accepted.Count < orders)
        {
            await pace.WaitForNextTickAsync(cancellationToken);
            if (!await TrySendAsync($"o{++_number}", cancellationToken))
                await Task.Delay(Pause, cancellationToken);
        }
    }

    private async Task<bool> TrySendAsync(string order, CancellationToken cancellationToken)
    {
        try
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            limit.CancelAfter(TimeSpan.FromSeconds(15));
            using var response = await bench.Host.PostAsync("/orders", $$"""{ "order": "{{order}}" }""", "application/json", limit.Token);
            if (response.StatusCode != HttpStatusCode.Accepted)
                return false;
            _accepted.Add(order);
            return true;
        }
        catch (Exception ex) when (ex is HttpRequestException or SocketException or ObjectDisposedException)
        {
            return false; // the host was killed
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }
}
