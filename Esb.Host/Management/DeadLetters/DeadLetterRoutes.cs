using System.Globalization;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management.DeadLetters;

/// <summary>Finds and shows dead letters, and carries out operators' decisions about them.</summary>
internal static class DeadLetterRoutes
{
    private static readonly string[] FilterNames =
    [
        "endpoint",
        "code",
        "subject",
        "key",
        "messageId",
        "from",
        "to",
        "state",
        "text",
        "job",
    ];

    public static IEndpointRouteBuilder MapDeadLetterRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var store = bus.GetRequiredService<IDeadLetterStore>();
        var desk = bus.GetRequiredService<IDeadLetterDesk>();
        var limits = bus.GetRequiredService<Live<LimitsConfig>>();
        var letters = api.MapGroup("/dead-letters");
        letters.MapGet("", (HttpRequest request, CancellationToken cancellationToken) => FindAsync(store, request, cancellationToken));
        letters.MapGet(
            "/groups",
            (HttpRequest request, CancellationToken cancellationToken) => GroupAsync(store, request, cancellationToken)
        );
        letters.MapPost(
            "/discard",
            (HttpRequest request, CancellationToken cancellationToken) => DiscardAsync(desk, request, cancellationToken)
        );
        letters.MapGet(
            "/{id}",
            async (string id, CancellationToken cancellationToken) => DeadLetterView.Of(await GetAsync(store, id, cancellationToken))
        );
        letters.MapGet(
            "/{id}/body",
            async (string id, HttpRequest request, CancellationToken cancellationToken) =>
                BodyOf(await GetAsync(store, id, cancellationToken), new QueryReader(request.Query).Allow("edited").Flag("edited"))
        );
        letters.MapPut(
            "/{id}/body",
            async (string id, HttpRequest request, CancellationToken cancellationToken) =>
            {
                AllowEditing(request, limits.Current);
                var body = await JsonBody.ReadAsync<LetterBody>(request, cancellationToken);
                return await EditAsync(desk, id, body.ToBody(), body, request, cancellationToken);
            }
        );
        letters.MapDelete(
            "/{id}/body",
            async (string id, HttpRequest request, CancellationToken cancellationToken) =>
            {
                var body = await JsonBody.ReadAsync<TakenBackEdit>(request, cancellationToken);
                return await EditAsync(desk, id, edited: null, body, request, cancellationToken);
            }
        );
        letters.MapPost(
            "/{id}/replay",
            async (string id, HttpRequest request, CancellationToken cancellationToken) =>
            {
                AllowEditing(request, limits.Current);
                var kept = await GetAsync(store, id, cancellationToken);
                var body = await JsonBody.ReadAsync<ReplayBody>(request, cancellationToken);
                if (body.Ids is not null || body.Filter is not null)
                    throw Problems.Parameter(body.Ids is null ? "filter" : "ids", "the path names the letter");
                return await ReplayRoutes.MakeAsync(desk, body with { Ids = [kept.Summary.Id] }, request, cancellationToken);
            }
        );
        return api;
    }

    /// <summary>The maximum request size: an edited body may be as large as any message body, and is larger as JSON.</summary>
    public static void AllowEditing(HttpRequest request, LimitsConfig limits)
    {
        if (request.HttpContext.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = (2 * limits.MaxBodySize.Bytes) + 65_536;
    }

    private static async Task<Page<DeadLetterView>> FindAsync(
        IDeadLetterStore store,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow([.. FilterNames, "after", "before", "limit"]);
        var limit = query.PageSize();
        var found = await store
            .FindAsync(
                new DeadLetterQuery
                {
                    Filter = FilterOf(query),
                    Before = BeforeOf(query),
                    Limit = limit,
                },
                cancellationToken
            )
            .ToListAsync(cancellationToken);
        return new Page<DeadLetterView>(
            [.. found.Select(DeadLetterView.Of)],
            found.Count == limit ? found[^1].Number.ToString(CultureInfo.InvariantCulture) : null
        );
    }

    private static async Task<Page<DeadLetterGroup>> GroupAsync(
        IDeadLetterStore store,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow([.. FilterNames, "by"]);
        var filter = FilterOf(query);
        var groups = await store.GroupAsync(
            filter with
            {
                State = filter.State ?? DeadLetterState.Open,
            },
            query.Choice<DeadLetterGrouping>("by") == DeadLetterGrouping.Cause,
            cancellationToken
        );
        return new Page<DeadLetterGroup>(groups);
    }

    private static async Task<DiscardReceipt> DiscardAsync(IDeadLetterDesk desk, HttpRequest request, CancellationToken cancellationToken)
    {
        var body = await JsonBody.ReadAsync<DeadLetterSelection>(request, cancellationToken);
        return new DiscardReceipt(await desk.DiscardAsync(body.ToFilter(), Operators.WithReason(request, body.Reason), cancellationToken));
    }

    private static async Task<KeptDeadLetter> GetAsync(IDeadLetterStore store, string id, CancellationToken cancellationToken)
    {
        var letter = Problems.RequireId(id);
        return await store.GetAsync(letter, cancellationToken) ?? throw Problems.NotFound($"There is no dead letter {letter}.");
    }

    // Sent as a download, whatever its media type: a browser must not render content of external senders.
    private static IResult BodyOf(KeptDeadLetter kept, bool isEdited) =>
        TypedResults.Bytes(
            isEdited ? kept.CurrentBody : kept.Letter.Message.Body.Bytes,
            "application/octet-stream",
            kept.Summary.MessageId.ToString()
        );

    private static async Task<DeadLetterView> EditAsync(
        IDeadLetterDesk desk,
        string id,
        EditedBody? edited,
        TakenBackEdit body,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var letter = Problems.RequireId(id);
        var decision = Operators.DecisionOf(request, body.Reason);
        return await desk.EditAsync(letter, edited, body.ExpectedDigest(), decision, cancellationToken) is { } kept
            ? DeadLetterView.Of(kept)
            : throw Problems.NotFound($"There is no dead letter {letter}.");
    }

    private static DeadLetterFilter FilterOf(QueryReader query) =>
        new()
        {
            Endpoint = query.Text("endpoint"),
            Code = query.Text("code"),
            Subject = query.Text("subject"),
            Key = query.Text("key"),
            MessageId = query.Id("messageId"),
            From = query.Time("from"),
            To = query.Time("to"),
            State = query.Choice<DeadLetterState>("state"),
            Text = query.Text("text"),
            Job = query.Id("job"),
        };

    private static long? BeforeOf(QueryReader query)
    {
        if (query.Position() is not { } text)
            return null;
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw Problems.Parameter("after", "expected what the page before calls next");
    }
}

/// <summary>The criteria that group letters, in addition to their endpoint.</summary>
internal enum DeadLetterGrouping
{
    /// <summary>The code.</summary>
    Code,

    /// <summary>The code and the start of the reason.</summary>
    Cause,
}

/// <summary>The number of discarded letters.</summary>
internal sealed record DiscardReceipt(long Discarded);
