using SideBySide.Flames;

namespace SideBySide.Measuring;

/// <summary>Sides that are measured by turns, and the rows that their figures fill.</summary>
/// <param name="title">For those who watch.</param>
/// <param name="rows">A side that stands in several rows is measured once.</param>
internal sealed class Contest(string title, IReadOnlyList<Row> rows)
{
    private static readonly TimeSpan Deadline = TimeSpan.FromMinutes(3);

    private readonly List<Series> _series =
    [
        .. rows.SelectMany(row => row.Peers.Prepend(row.Ours)).Distinct().Select(target => new Series(target)),
    ];

    public IEnumerable<ITarget> Targets => _series.Select(series => series.Target);

    /// <param name="method">How long and how often.</param>
    /// <param name="warm">The keys of what is warm already; those of this contest are added.</param>
    /// <param name="tell">Hears of each step.</param>
    public async Task<IReadOnlyList<RowResult>> RunAsync(
        Method method,
        ISet<string> warm,
        Action<string> tell,
        CancellationToken cancellationToken
    )
    {
        foreach (var series in _series)
        {
            await TryAsync(series, async () => Refuse(series, await series.Target.CheckAsync(cancellationToken)), cancellationToken);
            if (series.Target.WarmKey is not { } key)
                continue;
            var warmUp = warm.Add(key) ? method.WarmUp : method.WarmAgain;
            await TryAsync(
                series,
                async () => Refuse(series, (await series.Target.MeasureAsync(warmUp, cancellationToken)).Flaw),
                cancellationToken
            );
        }

        for (var round = 1; round <= method.Rounds; round++)
        {
            foreach (var series in _series)
            {
                await TryAsync(
                    series,
                    async () => Add(series, await MeasureAsync(series.Target, round, method, cancellationToken)),
                    cancellationToken
                );
            }

            tell($"{title}, round {round}: {string.Join(", ", _series.Select(Tell))}");
        }

        return [.. rows.Select(row => RowJudge.Judge(row, Of(row.Ours), [.. row.Peers.Select(Of)]))];
    }

    private async Task<Sample> MeasureAsync(ITarget target, int round, Method method, CancellationToken cancellationToken)
    {
        if (method.Flames is not { } folder || round > 1 || rows.All(row => row.Ours != target))
            return await MeasureAsync();
        return await new HostProfile(folder).DrawAsync($"{title}, {target.Name}", method.Round, MeasureAsync, cancellationToken);

        Task<Sample> MeasureAsync() => target.MeasureAsync(method.Round, cancellationToken);
    }

    // Whatever happens to one side, and however long it hangs, the others are measured.
    private static async Task TryAsync(Series series, Func<Task> attempt, CancellationToken cancellationToken)
    {
        if (series.Flaw is not null)
            return;
        try
        {
            await attempt().WaitAsync(Deadline, cancellationToken);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            series.Refuse($"not run: {series.Target.Name}: {failure.Message}");
        }
    }

    private static void Add(Series series, Sample sample)
    {
        if (sample.Flaw is null)
            series.Add(sample);
        Refuse(series, sample.Flaw);
    }

    private static void Refuse(Series series, string? flaw)
    {
        if (flaw is not null)
            series.Refuse($"failed: {series.Target.Name}: {flaw}");
    }

    private static string Tell(Series series) =>
        series.Flaw ?? FormattableString.Invariant($"{series.Target.Name} {series.Rates.Last():0}/s");

    private Series Of(ITarget target) => _series.Single(series => series.Target == target);
}
