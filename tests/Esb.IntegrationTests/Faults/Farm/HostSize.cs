using System.Diagnostics;
using Esb.Storage.Segments;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Looks once a second how much memory a host has, and how large its spool is, and keeps the most.</summary>
internal sealed class HostSize : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly FarmHost _host;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _looking;

    public HostSize(FarmHost host)
    {
        _host = host;
        _looking = LookAsync();
    }

    public long MostMemory { get; private set; }

    public long MostSpooled { get; private set; }

    /// <summary>How large the spool is at this moment.</summary>
    public long Spooled =>
        SegmentFile
            .List(Path.Combine(_host.Folder, "esb-data", "spool"))
            .Select(segment => new FileInfo(segment.Path))
            .Sum(file => file.Exists ? file.Length : 0);

    /// <summary>Forgets what was most until now, and returns the memory of this moment.</summary>
    public long Begin()
    {
        (MostMemory, MostSpooled) = (0, 0);
        return ReadMemory();
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _looking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stopping.Dispose();
    }

    private async Task LookAsync()
    {
        while (true)
        {
            await Task.Delay(Interval, _stopping.Token);
            (MostMemory, MostSpooled) = (Math.Max(MostMemory, ReadMemory()), Math.Max(MostSpooled, Spooled));
        }
    }

    private long ReadMemory()
    {
        using var process = Process.GetProcessById(_host.Process.Id);
        return process.WorkingSet64;
    }
}
