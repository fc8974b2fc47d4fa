using System.Globalization;
using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Host.Management.Evidence;

/// <summary>Verifies on a running host that recorded facts are unchanged.</summary>
internal static class EvidenceRoutes
{
    private const int MaxDays = 31;

    public static IEndpointRouteBuilder MapEvidenceRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var evidence = bus.GetRequiredService<IAuditEvidence>();
        var time = bus.GetRequiredService<TimeProvider>();
        var turn = new SemaphoreSlim(1); // a verification reads every fact of its days
        api.MapGet(
            "/evidence",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var query = new QueryReader(request.Query).Allow("from", "to", "strict");
                var (from, to, isStrict) = RangeOf(query, DateOnly.FromDateTime(time.GetUtcNow().UtcDateTime));
                if (!await turn.WaitAsync(TimeSpan.Zero, cancellationToken))
                    throw Busy();
                try
                {
                    return await VerifyAsync(evidence, from, to, isStrict, time, cancellationToken);
                }
                finally
                {
                    turn.Release();
                }
            }
        );
        return api;
    }

    private static async Task<EvidenceView> VerifyAsync(
        IAuditEvidence evidence,
        DateOnly from,
        DateOnly to,
        bool isStrict,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var chains = new List<FollowedChain>();
        var today = DateOnly.FromDateTime(time.GetUtcNow().UtcDateTime);
        var verdict = isStrict
            ? await evidence.VerifyStrictlyAsync(from, to, today, chains.Add, cancellationToken)
            : await evidence.VerifyAsync(from, to, chains.Add, cancellationToken);
        return EvidenceView.Of(from, to, isStrict, verdict, chains);
    }

    private static (DateOnly From, DateOnly To, bool IsStrict) RangeOf(QueryReader query, DateOnly today)
    {
        var to = DayOf(query, "to") ?? today;
        var from = DayOf(query, "from") ?? to;
        if (from > to)
            throw Problems.Parameter("to", "expected no earlier than from");
        if (to.DayNumber - from.DayNumber >= MaxDays)
            throw Problems.Parameter("from", $"expected at most {MaxDays} days; esb audit verify takes any number");
        return (from, to, query.Flag("strict"));
    }

    private static DateOnly? DayOf(QueryReader query, string name)
    {
        if (query.Text(name) is not { } text)
            return null;
        return DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)
            ? day
            : throw Problems.Parameter(name, "expected a day (UTC), such as 2026-03-01");
    }

    private static EsbException Busy() =>
        new("ESB-API-BUSY", "Another verification is under way on this host; ask again when it has ended.", FaultKind.Unavailable)
        {
            Status = StatusCodes.Status429TooManyRequests,
        };
}
