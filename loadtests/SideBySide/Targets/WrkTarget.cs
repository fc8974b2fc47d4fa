using SideBySide.Measuring;

namespace SideBySide.Targets;

/// <summary>An address that wrk posts to over 100 connections; every answer is compared byte for byte.</summary>
/// <remarks>
/// wrk and not k6: on two cores the callers share the processor with what is measured, and k6 needs about twelve times as much
/// of it for a request. That wrk also compares the answers costs less than can be seen.
/// </remarks>
/// <param name="name">As it stands in tables.</param>
/// <param name="request">What is posted, and what must come back.</param>
/// <param name="meter">Of the side that is measured.</param>
/// <param name="surroundings">Where the script is.</param>
internal sealed class WrkTarget(string name, string settings, WrkRequest request, Meter meter, Surroundings surroundings) : ITarget
{
    public const int Connections = 100;

    private string? _answer;

    public string Name { get; } = name;

    public string Settings => settings;

    public string? WarmKey { get; init; } = name;

    public async Task<string?> CheckAsync(CancellationToken cancellationToken)
    {
        var body = await File.ReadAllBytesAsync(request.Body, cancellationToken);
        var answer = await Http.PostAsync(request.Url, body, request.ContentType, cancellationToken);
        if (answer.Status != request.Status)
            return $"status {answer.Status} in place of {request.Status}";
        if (request.Flaw(answer.Body) is { } flaw)
            return flaw;
        _answer = Path.Combine(surroundings.Folder("answer"), "answer");
        await File.WriteAllBytesAsync(_answer, answer.Body, cancellationToken);
        return null;
    }

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) =>
        meter.MeasureAsync(token => LoadAsync(duration, token), cancellationToken);

    private async Task<Load> LoadAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var seconds = Math.Max(1, (int)duration.TotalSeconds); // wrk knows whole seconds
        var output = await Tool.RunAsync(
            [
                "wrk",
                "-t1",
                $"-c{Connections}",
                $"-d{seconds}s",
                "--timeout",
                "30s",
                "-s",
                surroundings.Find("loadtests/compare.d/check.lua"),
                request.Url,
            ],
            Variables(),
            TimeSpan.FromSeconds(seconds + 60),
            cancellationToken
        );
        return WrkOutput.Parse(output);
    }

    private IEnumerable<KeyValuePair<string, string>> Variables()
    {
        yield return new("BODY", request.Body);
        yield return new("ANSWER", _answer!);
        yield return new("STATUS", $"{request.Status}");
        yield return new("CONTENT_TYPE", request.ContentType);
        if (request.Pattern is not null)
            yield return new("PATTERN", request.Pattern);
    }
}
