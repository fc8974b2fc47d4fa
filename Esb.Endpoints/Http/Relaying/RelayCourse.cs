using System.Runtime.CompilerServices;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>One request over one connection, and its answer; the answer may arrive before the request is fully sent.</summary>
internal sealed class RelayCourse(
    HttpContext context,
    OutsideConnection connection,
    HttpTarget target,
    HttpServer server,
    RelayHeaders headers,
    IRelayWitness? witness,
    TimeProvider time
)
{
    // The time that clients wait for the interim answer before they send anyway (RFC 9110, section 10.1.1).
    private static readonly TimeSpan LongestExpectation = TimeSpan.FromSeconds(1);

    // A caller that is cut off while it still sends may miss its answer.
    private static readonly TimeSpan LongestDiscard = TimeSpan.FromSeconds(5);

    private readonly RelayUpload _upload = new(context, connection, headers, target.Credential);
    private bool _hasHead;

    /// <summary>True if the connection may carry another exchange.</summary>
    public bool IsReusable => _upload.IsComplete && connection.Head.KeepsConnection && connection.Body.IsComplete;

    /// <summary>True if a request on a lost connection may be sent again: it has no body to lose and is idempotent (RFC 9110, section
    /// 9.2.2).</summary>
    public static bool MayRepeat(HttpContext context) =>
        !HasBody(context) && context.Request.Method is "GET" or "HEAD" or "OPTIONS" or "PUT" or "DELETE";

    /// <param name="credential">The value of the credential; null if the external system needs none.</param>
    /// <exception cref="OutsideException">The connection was lost.</exception>
    /// <exception cref="Core.Errors.EsbException">The caller's request is incomplete or invalid.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RunAsync(string? credential)
    {
        using var leaving = context.RequestAborted.UnsafeRegister(
            static connection => ((OutsideConnection)connection!).Abort(),
            connection
        );
        var hasBody = HasBody(context);
        headers.WriteHead(connection.Request, context, target, server, credential, hasBody);
        var sending = hasBody && IsExpectant(context.Request) ? await AskAsync() : _upload.SendAsync(hasBody);
        try
        {
            if (!_hasHead)
                await ReadFinalHeadAsync();
            if (credential is not null && connection.Head.Status == StatusCodes.Status401Unauthorized)
                target.Credential?.Refuse(credential);
            await new RelayAnswer(context, connection, headers, witness).PassAsync(isRequestSent: _upload.HasReadAll);
        }
        catch (Exception ex)
        {
            await _upload.StopAsync(sending);
            if (ex is not OutsideException)
                throw;
            _upload.ThrowIfFailed();
            if (hasBody && !_upload.HasReadAll && context.RequestAborted.IsCancellationRequested)
                throw HttpContentRules.HungUp(ex); // the token may be faster than the reader of the body
            throw;
        }

        if (!sending.IsCompleted)
            await DiscardAsync(sending);
    }

    private static bool HasBody(HttpContext context) =>
        context.Request.ContentLength is not 0 && context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody == true;

    private static bool IsExpectant(HttpRequest request) =>
        request.Headers.Expect.Count > 0 && HttpFields.HasOption(request.Headers.Expect.ToString(), "100-continue");

    // The body is sent when the external system asks for it or stays silent. Reading it makes the server ask the caller to continue.
    private async ValueTask<Task> AskAsync()
    {
        await _upload.SendHeadAsync();
        if (await connection.HearsWithinAsync(LongestExpectation, time))
        {
            await ReadHeadAsync();
            _hasHead = !connection.Head.IsInterim;
            if (_hasHead)
                return Task.CompletedTask;
        }

        return _upload.SendAsync(hasBody: true);
    }

    // Interim answers end here: the server cannot forward them.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask ReadFinalHeadAsync()
    {
        do await ReadHeadAsync();
        while (connection.Head.IsInterim);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask ReadHeadAsync()
    {
        while (true)
        {
            var read = connection.Received.IsEmpty ? 0 : connection.Head.Read(connection.Received.Span);
            connection.Consume(read);
            if (read > 0)
                break;
            if (!await connection.FillAsync())
                throw OutsideException.HungUp();
        }

        if (connection.Head.Status == StatusCodes.Status101SwitchingProtocols)
            throw new BadAnswerException("it changes the protocol, unasked");
    }

    private async ValueTask DiscardAsync(Task sending)
    {
        await context.Response.CompleteAsync();
        if (!_upload.HasReadAll)
            _upload.Discard(); // otherwise its end is being sent, and the connection stays usable
        using var over = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted);
        await Task.WhenAny(sending, Task.Delay(LongestDiscard, time, over.Token));
        await over.CancelAsync();
        await _upload.StopAsync(sending);
    }
}
