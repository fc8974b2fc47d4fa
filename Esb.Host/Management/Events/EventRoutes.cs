using System.Text;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management.Events;

/// <summary><c>GET /api/events</c>: what happens on this host, as server-sent events.</summary>
/// <remarks>Format: https://html.spec.whatwg.org/multipage/server-sent-events.html.</remarks>
internal static class EventRoutes
{
    private static readonly TimeSpan Heartbeat = TimeSpan.FromSeconds(15);

    // For a reader that is too slow to take what it is sent; one that takes nothing would be kept for minutes.
    private static readonly TimeSpan Farewell = TimeSpan.FromSeconds(5);

    public static IEndpointRouteBuilder MapEventRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var stream = bus.GetRequiredService<EventStream>();
        var (time, host) = (bus.GetRequiredService<TimeProvider>(), bus.GetRequiredService<IFarm>().Self.Name);
        api.MapGet(
            "/events",
            (HttpContext context, CancellationToken cancellationToken) => StreamAsync(context, stream, host, time, cancellationToken)
        );
        return api;
    }

    private static async Task StreamAsync(
        HttpContext context,
        EventStream stream,
        string host,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(context.Request.Query).Allow("kinds", "lastEventId");
        var kinds = KindsOf(query.Text("kinds"), context.Features.GetRequiredFeature<ManagementUser>());
        var reader =
            stream.Open(kinds, LastIdOf(context.Request, query))
            ?? throw new EsbException(
                "ESB-API-BUSY",
                $"There are {EventStream.MaxReaders} readers of events already; close one.",
                FaultKind.Unavailable
            );
        using var late = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        await using var closing = late.Token.Register(context.Abort);
        await using var slow = reader.TooSlow.Register(() => late.CancelAfter(Farewell));
        try
        {
            context.Response.ContentType = "text/event-stream; charset=utf-8";
            context.Response.Headers["X-Accel-Buffering"] = "no"; // proxies must not collect them
            await GreetAsync(context, reader, new Greeting(stream.Run, host, HostVersion.Text), cancellationToken);
            await SendAsync(context, reader, time, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested || late.IsCancellationRequested)
        {
            // The reader has gone.
        }
        finally
        {
            stream.Close(reader);
        }
    }

    private static async Task GreetAsync(HttpContext context, EventReader reader, Greeting greeting, CancellationToken cancellationToken)
    {
        // Missed events follow the greeting: with an id of its own, they would be skipped after another interruption.
        var id = reader.IsResumed ? "" : $"id: {reader.BeginId}\n";
        await context.Response.WriteAsync(
            $"retry: 2000\n{id}event: hello\ndata: {JsonSerializer.Serialize(greeting, JsonSerializerOptions.Web)}\n\n",
            cancellationToken
        );
        if (reader.IsReset)
            await context.Response.WriteAsync($"id: {reader.BeginId}\nevent: reset\ndata: {{}}\n\n", cancellationToken);
        await context.Response.Body.FlushAsync(cancellationToken);
    }

    private static async Task SendAsync(HttpContext context, EventReader reader, TimeProvider time, CancellationToken cancellationToken)
    {
        var access = context.Features.GetRequiredFeature<ManagementAccess>();
        var text = new StringBuilder();
        var waiting = reader.WaitAsync(cancellationToken).AsTask();
        while (true)
        {
            if (await Task.WhenAny(waiting, Task.Delay(Heartbeat, time, cancellationToken)) != waiting)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (!access.Holds())
                    return; // signed out, or the key has expired
                text.Append(": still here\n\n");
            }
            else
            {
                if (!await waiting || !access.Holds())
                    return;
                while (text.Length < 65_536 && reader.TryRead(out var read))
                    text.Append("id: ")
                        .Append(reader.IdOf(read))
                        .Append("\nevent: ")
                        .Append(read.KindName)
                        .Append("\ndata: ")
                        .Append(read.Json)
                        .Append("\n\n");
                waiting = reader.WaitAsync(cancellationToken).AsTask();
            }

            await context.Response.WriteAsync(text.ToString(), cancellationToken);
            await context.Response.Body.FlushAsync(cancellationToken);
            text.Clear();
        }
    }

    private static string? LastIdOf(HttpRequest request, QueryReader query) =>
        request.Headers["Last-Event-ID"] is [{ } id] ? id : query.Text("lastEventId");

    // Lines of the log may tell what messages hold; the rest is states and figures.
    private static HashSet<BusEventKind> KindsOf(string? text, ManagementUser user)
    {
        var names = Enum.GetValues<BusEventKind>().ToDictionary(BusEvent.NameOf);
        var mayReadLog = user.Role >= ManagementRole.Operator;
        if (text is null)
            return [.. names.Values.Where(kind => kind != BusEventKind.Log || mayReadLog)];
        HashSet<BusEventKind> kinds =
        [
            .. text.Split(',')
                .Select(name =>
                    names.TryGetValue(name, out var kind)
                        ? kind
                        : throw Problems.Parameter("kinds", $"expected of {string.Join(", ", names.Keys)}")
                ),
        ];
        if (!kinds.Contains(BusEventKind.Log) || mayReadLog)
            return kinds;
        throw new EsbException("ESB-API-ROLE", "The kind log takes the role operator.", FaultKind.Malformed)
        {
            Status = StatusCodes.Status403Forbidden,
        };
    }
}

/// <summary>The first event of a stream.</summary>
/// <param name="Run">The first part of the ids.</param>
/// <param name="Host">The host that answers.</param>
/// <param name="Version">Its version.</param>
internal sealed record Greeting(string Run, string Host, string Version);
