using System.Diagnostics;
using System.Globalization;
using Npgsql;
using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Topics;

namespace SideBySide.Content;

/// <summary>An interchange that is put into a folder, and the messages that a host makes of it: the rate is from the file to the last
/// message that comes out, or to its last row.</summary>
/// <param name="name">As it stands in tables.</param>
/// <param name="settings">What a reader must know.</param>
/// <param name="host">The host.</param>
/// <param name="folder">The folder that it reads.</param>
/// <param name="records">The records of an interchange.</param>
internal abstract class SplitTarget(string name, string settings, EsbHost host, string folder, int records) : ITarget
{
    private const int First = 2_000;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static long _next = 1;

    private readonly Meter _meter = Meter.Of(host);
    private long _before;
    private long _peak;
    private double _firstShare;

    public string Name => name;

    public string Settings =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{host.Collector} collector; {settings}; memory of the host {_before >> 20} MB before and {_peak >> 20} MB at "
                + $"its peak{FirstText}"
        );

    public string? WarmKey => null;

    /// <summary>The time of the first message that came out, if known.</summary>
    protected virtual long? FirstOut => null;

    private string FirstText =>
        _firstShare == 0
            ? ""
            : string.Create(CultureInfo.InvariantCulture, $"; the first message came out after {_firstShare * 100:0.0} % of the time");

    public async Task<string?> CheckAsync(CancellationToken cancellationToken)
    {
        var flaw = (await RunAsync(First, cancellationToken)).Flaw;
        _before = host.PeakMemoryBytes;
        return flaw;
    }

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) =>
        _meter.MeasureAsync(token => RunAsync(records, token), cancellationToken);

    protected abstract Task BeginAsync(CancellationToken cancellationToken);

    /// <summary>Waits until so many have come out, or none comes any more; returns their number and the time of the last.</summary>
    protected abstract Task<(long Count, long Last)> WaitAsync(int records, TimeSpan patience, CancellationToken cancellationToken);

    private async Task<Load> RunAsync(int count, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder);
        var first = Interlocked.Add(ref _next, count) - count;
        var file = $"{first}.txt";
        var unfinished = Path.Combine(Path.GetDirectoryName(folder)!, file);
        await Interchange.WriteAsync(unfinished, first, count, cancellationToken);
        await BeginAsync(cancellationToken);
        var began = Stopwatch.GetTimestamp();
        File.Move(unfinished, Path.Combine(folder, file));
        var (found, last) = await WaitAsync(count, Patience, cancellationToken);
        if (found != count)
            return new Load(count, 0, $"{found} of {count} records came out");
        _peak = host.PeakMemoryBytes;
        var time = Stopwatch.GetElapsedTime(began, last);
        if (FirstOut is { } firstOut)
            _firstShare = Stopwatch.GetElapsedTime(began, firstOut) / time;
        return new Load(count, count / time.TotalSeconds, null);
    }
}

/// <summary>Records that are published to a queue.</summary>
internal sealed class PublishedSplitTarget(string name, string settings, EsbHost host, string folder, int records, PublishedCounter counter)
    : SplitTarget(name, settings, host, folder, records)
{
    protected override long? FirstOut => counter.First;

    protected override Task BeginAsync(CancellationToken cancellationToken)
    {
        counter.Reset();
        return Task.CompletedTask;
    }

    protected override async Task<(long Count, long Last)> WaitAsync(int records, TimeSpan patience, CancellationToken cancellationToken)
    {
        await counter.WaitAsync(records, patience, cancellationToken);
        return (counter.Count, counter.Last);
    }
}

/// <summary>Records that are published and inserted.</summary>
internal sealed class InsertedSplitTarget(string name, string settings, EsbHost host, string folder, int records, string database)
    : SplitTarget(name, settings, host, folder, records)
{
    protected override async Task BeginAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand("truncate records");
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    protected override async Task<(long Count, long Last)> WaitAsync(int records, TimeSpan patience, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand("select count(*) from records");
        var (before, last) = (0L, Stopwatch.GetTimestamp());
        while (before < records && Stopwatch.GetElapsedTime(last) < patience)
        {
            await Task.Delay(200, cancellationToken); // counting costs the database something
            if ((long)(await command.ExecuteScalarAsync(cancellationToken))! is var now && now > before)
                (before, last) = (now, Stopwatch.GetTimestamp());
        }

        return (before, last);
    }
}
