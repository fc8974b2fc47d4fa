using System.Text.Json;
using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>Messages that no endpoint subscribes to: what they are, and publishing them again once one does.</summary>
internal static class UnroutableRoutes
{
    public const int MaxMessages = 10_000;
    public const int DefaultMessages = 1_000;

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = System.Text.Json.Serialization.JsonUnmappedMemberHandling.Disallow,
    };

    public static IEndpointRouteBuilder MapUnroutableRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var unroutable = bus.GetRequiredService<IUnroutableMessages>();
        api.MapGet("/unroutable", (HttpRequest request, CancellationToken cancellationToken) => unroutable.SummarizeAsync(PeekOf(request), cancellationToken));
        api.MapPost("/unroutable/replays", async (HttpRequest request, CancellationToken cancellationToken) =>
        {
            var replay = await ReadAsync(request, cancellationToken);
            return await unroutable.ReplayAsync(replay.Subject, replay.Limit, cancellationToken);
        });
        return api;
    }

    private static int PeekOf(HttpRequest request) => new QueryReader(request.Query).Allow("peek").Integer("peek", 0, MaxMessages, DefaultMessages);

    private static async Task<ReplayUnroutable> ReadAsync(HttpRequest request, CancellationToken cancellationToken)
    {
        new QueryReader(request.Query).Allow();
        using var body = new MemoryStream();
        await request.Body.CopyToAsync(body, cancellationToken);
        var replay = body.Length == 0 ? new ReplayUnroutable() : Parse(body.ToArray());
        if (replay.Subject is { } subject && Subject.Parse(subject) is null) throw Problems.Parameter("subject", Subject.Expected);
        return replay.Limit is >= 1 and <= MaxMessages ? replay : throw Problems.Parameter("limit", $"expected a number from 1 to {MaxMessages}");
    }

    private static ReplayUnroutable Parse(byte[] body)
    {
        try
        {
            return JsonSerializer.Deserialize<ReplayUnroutable>(body, Json) ?? new ReplayUnroutable();
        }
        catch (JsonException)
        {
            throw Problems.Parameter("body", "expected a JSON object with \"subject\" and \"limit\", or nothing");
        }
    }
}

/// <summary>Asks for a replay of unroutable messages.</summary>
/// <param name="Subject">Of this subject only; of all where it is null.</param>
/// <param name="Limit">How many at most.</param>
internal sealed record ReplayUnroutable(string? Subject = null, int Limit = UnroutableRoutes.DefaultMessages);
