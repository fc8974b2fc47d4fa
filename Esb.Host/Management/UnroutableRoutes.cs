using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>Shows messages without a subscribing endpoint, and publishes them again once an endpoint subscribes.</summary>
internal static class UnroutableRoutes
{
    public const int MaxMessages = 10_000;
    public const int DefaultMessages = 1_000;

    public static IEndpointRouteBuilder MapUnroutableRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var unroutable = bus.GetRequiredService<IUnroutableMessages>();
        api.MapGet(
            "/unroutable",
            (HttpRequest request, CancellationToken cancellationToken) => unroutable.SummarizeAsync(PeekOf(request), cancellationToken)
        );
        api.MapPost(
            "/unroutable/replays",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var replay = await JsonBody.ReadAsync<ReplayUnroutable>(request, cancellationToken);
                Check(replay);
                return await unroutable.ReplayAsync(replay.Subject, replay.Limit, cancellationToken);
            }
        );
        return api;
    }

    private static int PeekOf(HttpRequest request) =>
        new QueryReader(request.Query).Allow("peek").Integer("peek", 0, MaxMessages, DefaultMessages);

    private static void Check(ReplayUnroutable replay)
    {
        if (replay.Subject is { } subject && Subject.Parse(subject) is null)
            throw Problems.Parameter("subject", Subject.Expected);
        if (replay.Limit is < 1 or > MaxMessages)
            throw Problems.Parameter("limit", $"expected a number from 1 to {MaxMessages}");
    }
}

/// <summary>The request body of a replay of unroutable messages.</summary>
internal sealed record ReplayUnroutable
{
    /// <summary>The subject; null for all subjects.</summary>
    public string? Subject { get; init; }

    /// <summary>The maximum number of messages.</summary>
    public int Limit { get; init; } = UnroutableRoutes.DefaultMessages;
}
