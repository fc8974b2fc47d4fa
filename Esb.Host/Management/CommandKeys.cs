using System.Security.Cryptography;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Carries out a command once for each <c>Idempotency-Key</c> of its sender; a repetition gets the first answer (pattern:
/// Idempotent Receiver). Thread-safe.</summary>
/// <remarks>A failed command may be repeated. Commands with a durable name of their own, such as replay jobs, do without.</remarks>
internal sealed partial class CommandKeys(IIdempotencyKeys? keys, TimeProvider time, ILogger logger)
{
    private const string Endpoint = "esb-management";
    private const int MaxAnswerBytes = 256 * 1024;

    private static readonly TimeSpan RenewInterval = TimeSpan.FromSeconds(20);

    public Task RunAsync(HttpContext context, RequestDelegate next)
    {
        var isCommand =
            !HttpMethods.IsGet(context.Request.Method)
            && context.GetEndpoint()?.Metadata.GetMetadata<OpenRoute>() is null
            && context.Features.Get<ManagementUser>() is not null;
        if (keys is null || !isCommand || NamesItself(context.Request.Path) || Operators.CommandOf(context.Request) is not { } command)
            return next(context);
        return RunOnceAsync(context, command, next);
    }

    // Replays and previews keep the command with what it made.
    private static bool NamesItself(PathString path) =>
        path.Value is { } text
        && (
            text.EndsWith("/replay", StringComparison.Ordinal)
            || text.EndsWith("/replays", StringComparison.Ordinal)
            || text.EndsWith("/preview", StringComparison.Ordinal)
        );

    private async Task RunOnceAsync(HttpContext context, string command, RequestDelegate next)
    {
        var user = context.Features.Get<ManagementUser>()!;
        var claim = await keys!.ClaimAsync(
            new IdempotencyKey(Endpoint, user.Name ?? "", command),
            await DigestAsync(context.Request),
            context.RequestAborted
        );
        switch (claim)
        {
            case KeyClaim.Granted granted:
                await CarryOutAsync(context, granted, next);
                break;
            case KeyClaim.Answered { Answer: var answer }:
                await RepeatAsync(context.Response, answer);
                break;
            case KeyClaim.Running:
                throw Refusal(
                    StatusCodes.Status409Conflict,
                    "ESB-API-IDEMRUNNING",
                    "The command of this Idempotency-Key is still carried out."
                );
            default:
                throw Refusal(
                    StatusCodes.Status422UnprocessableEntity,
                    "ESB-API-IDEMCONFLICT",
                    "The Idempotency-Key belongs to another command."
                );
        }
    }

    private async Task CarryOutAsync(HttpContext context, KeyClaim.Granted claim, RequestDelegate next)
    {
        var (response, body) = (context.Response.Body, new MemoryStream());
        using var done = new CancellationTokenSource();
        var renewing = RenewAsync(claim, done.Token);
        var isDone = false;
        context.Response.Body = body;
        try
        {
            await next(context);
            isDone = context.Response.StatusCode < StatusCodes.Status400BadRequest;
        }
        finally
        {
            context.Response.Body = response;
            await done.CancelAsync();
            await renewing;
            await SettleAsync(() =>
                isDone
                    ? keys!.CompleteAsync(claim, Record(context, body), CancellationToken.None)
                    : keys!.ReleaseAsync(claim, CancellationToken.None)
            );
        }

        await response.WriteAsync(body.GetBuffer().AsMemory(0, (int)body.Length), context.RequestAborted);
    }

    private async Task RenewAsync(KeyClaim.Granted claim, CancellationToken done)
    {
        while (true)
        {
            await Task.Delay(RenewInterval, time, done).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (done.IsCancellationRequested)
                return;
            await SettleAsync(() => keys!.RenewAsync(claim, CancellationToken.None));
        }
    }

    // What was done stays done: without the record, a repetition is carried out again once the claim has expired.
    private async Task SettleAsync(Func<Task> settle)
    {
        try
        {
            await settle();
        }
        catch (EsbException ex)
        {
            LogNotSettled(ex);
        }
    }

    // Changed log levels end with the host; everything else is in the store.
    private static RecordedAnswer Record(HttpContext context, MemoryStream body) =>
        new(
            context.Response.StatusCode,
            context.Response.ContentType,
            new Dictionary<string, string>(),
            body.Length <= MaxAnswerBytes ? body.ToArray() : default(ReadOnlyMemory<byte>?),
            context.Request.Path != "/api/log"
        );

    private static async Task RepeatAsync(HttpResponse response, RecordedAnswer answer)
    {
        if (answer.Body is not { } body)
            throw Refusal(
                StatusCodes.Status409Conflict,
                "ESB-API-IDEMRUNNING",
                "The command was carried out before; its answer was too large to keep."
            );
        response.StatusCode = answer.Status;
        if (answer.ContentType is { } type)
            response.ContentType = type;
        response.Headers["Idempotency-Replayed"] = "true";
        if (!body.IsEmpty)
            await response.Body.WriteAsync(body);
    }

    private static async Task<byte[]> DigestAsync(HttpRequest request)
    {
        request.EnableBuffering();
        using var digest = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        digest.AppendData(Encoding.UTF8.GetBytes($"{request.Method} {request.Path}{request.QueryString}\n"));
        var buffer = new byte[16 * 1024];
        for (int read; (read = await request.Body.ReadAsync(buffer, request.HttpContext.RequestAborted)) > 0; )
            digest.AppendData(buffer.AsSpan(0, read));
        request.Body.Position = 0;
        return digest.GetHashAndReset();
    }

    private static EsbException Refusal(int status, string code, string message) =>
        new(code, message, FaultKind.Malformed) { Status = status };

    [LoggerMessage(
        EventId = 5140,
        Level = LogLevel.Warning,
        Message = "The answer to a command could not be kept under its Idempotency-Key"
    )]
    private partial void LogNotSettled(Exception exception);
}
