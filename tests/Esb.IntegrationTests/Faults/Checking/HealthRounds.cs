using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>Strikes a host with one fault after the other, and notes how soon it says so, whether it keeps saying so, and how soon all is
/// well after the repair.</summary>
internal sealed class HealthRounds(FaultBench bench)
{
    private static readonly TimeSpan BadWithin = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan GoodWithin = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Lasting = TimeSpan.FromSeconds(8); // one that only flinches is well again by then

    private readonly List<string> _found = [];
    private readonly List<string> _failures = [];

    private FarmHost Host => bench.Farm.Hosts[0];

    /// <param name="fault">What happens.</param>
    /// <param name="lasts">Whether the host cannot get over it before it is mended.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async Task RunAsync(Fault fault, CancellationToken cancellationToken, bool lasts = true)
    {
        await WaitAsync(good: true, TimeSpan.FromSeconds(60), cancellationToken);
        await fault.StrikeAsync();
        var bad = await WaitAsync(good: false, BadWithin * 2, cancellationToken);
        var flinched = bad is not null && lasts ? await WaitAsync(good: true, Lasting, cancellationToken) : null;
        var reason = bad is null ? "" : await ReasonAsync(cancellationToken);
        await fault.HealAsync();
        var good = await WaitAsync(good: true, GoodWithin * 3, cancellationToken);
        var line =
            $"{fault.Name}: bad after {Seconds(bad)}{(flinched is null ? "" : $" but good again {Seconds(flinched)} later")}, good "
            + $"{Seconds(good)} after the repair";
        FaultBench.Log($"{line}; {reason}");
        _found.Add($"{fault.Name} {Seconds(bad)}/{Seconds(good)}");
        if (bad is null || bad > BadWithin || flinched is not null || good is null || good > GoodWithin)
            _failures.Add(line);
    }

    /// <summary>Writes the line of the table, and fails where a fault was not told of in time.</summary>
    public void Conclude()
    {
        bench.Note($"{_found.Count} faults: bad after/good after", string.Join(", ", _found));
        Assert.That(_failures, Is.Empty);
    }

    // How long it took; null where it did not come.
    private async Task<TimeSpan?> WaitAsync(bool good, TimeSpan limit, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(started) < limit)
        {
            if (await IsGoodAsync(cancellationToken) == good)
                return TimeProvider.System.GetElapsedTime(started);
            await Task.Delay(100, cancellationToken);
        }

        return null;
    }

    private async Task<bool> IsGoodAsync(CancellationToken cancellationToken)
    {
        if (!await Host.IsReadyAsync(cancellationToken))
            return false;
        var endpoints = await Host.Process.AskAsync("/api/endpoints", cancellationToken);
        return endpoints.GetProperty("items").EnumerateArray().All(endpoint => endpoint.GetProperty("state").GetString() == "running");
    }

    private async Task<string> ReasonAsync(CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(Host.Process.Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(Host.Process.Management, "/health/ready"));
        request.Headers.Add("X-Esb-Key", key.Trim());
        using var response = await Host.Process.Client.SendAsync(request, cancellationToken);
        return await response.Content.ReadAsStringAsync(cancellationToken);
    }

    private static string Seconds(TimeSpan? time) =>
        time is { } known ? FormattableString.Invariant($"{known.TotalSeconds:0.0} s") : "never";
}
