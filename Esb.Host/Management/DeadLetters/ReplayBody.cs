using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Replays;

namespace Esb.Host.Management.DeadLetters;

/// <summary>The request body of a replay.</summary>
internal sealed record ReplayBody : DeadLetterSelection
{
    public int? Limit { get; init; }
    public string? Redirect { get; init; }
    public double? Rate { get; init; }
    public int? BatchSize { get; init; }
    public int? FirstBatch { get; init; }
    public string? BatchPause { get; init; }
    public double? StopAtFailureShare { get; init; }
    public bool OutOfOrder { get; init; }
    public EditBody? Edit { get; init; }

    public ReplayRequest ToRequest()
    {
        Within("limit", Limit, 1, int.MaxValue);
        Within("rate", Rate, 0.01, 10_000);
        Within("batchSize", BatchSize, 1, 100_000);
        Within("firstBatch", FirstBatch, 1, 100_000);
        Within("stopAtFailureShare", StopAtFailureShare, 0.001, 1);
        if (Edit is not null && Ids is not { Count: 1 })
            throw Problems.Parameter("edit", "expected one id: only a single letter can be edited");
        var request = new ReplayRequest
        {
            Letters = ToFilter(),
            Limit = Limit,
            Redirect = Redirect,
            Rate = Rate,
            BatchSize = BatchSize,
            StopAtFailureShare = StopAtFailureShare,
            OutOfOrder = OutOfOrder,
            Edit = Edit?.ToEdit(),
        };
        return request with { FirstBatch = FirstBatch ?? request.FirstBatch, BatchPause = Pause() ?? request.BatchPause };
    }

    private TimeSpan? Pause()
    {
        if (BatchPause is null)
            return null;
        return Duration.TryParse(BatchPause, out var pause) && pause <= TimeSpan.FromHours(1)
            ? pause
            : throw Problems.Parameter("batchPause", "expected a duration such as 5s, 0ms..1h");
    }

    private static void Within(string name, double? value, double minimum, double maximum)
    {
        if (value is { } number && !(number >= minimum && number <= maximum))
            throw Problems.Parameter(name, FormattableString.Invariant($"expected a number from {minimum} to {maximum}"));
    }
}

/// <summary>An edited message in a request.</summary>
internal sealed record EditBody
{
    /// <summary>A text body.</summary>
    public string? Body { get; init; }

    /// <summary>Any other body.</summary>
    public byte[]? BodyBase64 { get; init; }

    public string? ContentType { get; init; }

    /// <summary>The headers that replace all existing ones.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }

    public ReplayEdit ToEdit()
    {
        if (Body is not null && BodyBase64 is not null)
            throw Problems.Parameter("edit.bodyBase64", "expected body or bodyBase64, not both");
        if (ContentType is not null && !HeaderRules.IsValue(ContentType))
            throw Problems.Parameter("edit.contentType", "expected one line of text");
        foreach (var (name, value) in Headers ?? new Dictionary<string, string>())
        {
            if (!HeaderRules.IsName(name) || HeaderRules.IsReserved(name))
                throw Problems.Parameter(
                    "edit.headers",
                    $"'{(name.Length <= 40 ? name : name[..40])}' is no name of a header, or one of the bus"
                );
            if (!HeaderRules.IsValue(value))
                throw Problems.Parameter("edit.headers", $"the value of '{name}' has control characters");
        }

        return new ReplayEdit
        {
            Body = Body is not null ? System.Text.Encoding.UTF8.GetBytes(Body) : BodyBase64,
            ContentType = ContentType,
            Headers = Headers,
        };
    }
}
