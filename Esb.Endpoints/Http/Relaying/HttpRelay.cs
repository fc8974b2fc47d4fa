using System.Diagnostics;
using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Delivery;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Forwards one request at a time to the external system, and its answer back, streaming both bodies.</summary>
internal sealed class HttpRelay(HttpTarget target, TimeProvider time)
{
    /// <param name="context">The request and its answer.</param>
    /// <param name="headers">Selects the headers to forward.</param>
    /// <param name="patience">The maximum silence of the external system.</param>
    /// <param name="witness">Hears of the answer before the caller has its end; null for none.</param>
    /// <exception cref="EsbException">No answer arrived, or the caller's request is incomplete.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RelayAsync(HttpContext context, RelayHeaders headers, TimeSpan patience, IRelayWitness? witness = null)
    {
        using var span = RelaySpan.Start(context.Request.Method, target.Servers.First.Url);
        var started = time.GetTimestamp();
        string? error = null;
        try
        {
            await SendAsync(context, headers, patience, witness);
            RelaySpan.End(span, context.Response.StatusCode);
        }
        catch (Exception ex)
        {
            if (!context.Response.HasStarted)
                context.Response.Clear();
            RelaySpan.Fail(span, ex);
            error = (ex as EsbException)?.Code ?? ex.GetType().FullName;
            throw;
        }
        finally
        {
            SendTelemetry.RecordRelayed(target.Name, time.GetElapsedTime(started), error);
        }
    }

    // The next server gets the request if one is unreachable, or lost a request that may be repeated.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask SendAsync(HttpContext context, RelayHeaders headers, TimeSpan patience, IRelayWitness? witness)
    {
        var turn = target.Servers.Begin();
        var server = turn.Next()!;
        while (true)
        {
            try
            {
                // A server may close a connection just as it is reused.
                if (!await TryAsync(server, context, headers, patience, witness, isNew: false))
                    await TryAsync(server, context, headers, patience, witness, isNew: true);
                return;
            }
            catch (EndpointException ex) when (ex is { IsOutage: true } or { IsUnanswered: true })
            {
                server.NoteFailure();
                if (
                    context.Response.HasStarted
                    || !FailOverHandler.MayPassOn(ex, RelayCourse.MayRepeat(context))
                    || turn.Next() is not { } next
                )
                    throw;
                server = next;
            }
        }
    }

    // False if the request may be retried.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<bool> TryAsync(
        HttpServer server,
        HttpContext context,
        RelayHeaders headers,
        TimeSpan patience,
        IRelayWitness? witness,
        bool isNew
    )
    {
        OutsideConnection? connection = null;
        try
        {
            var credential = target.Credential is { } own ? await own.CurrentAsync(context.RequestAborted) : null;
            connection = await server.Connections.RentAsync(isNew, patience, context.RequestAborted);
            var course = new RelayCourse(context, connection, target, server, headers, witness, time);
            connection.Silence.Begin(patience);
            await course.RunAsync(credential);
            Finish(server, connection, course.IsReusable);
            return true;
        }
        catch (Exception ex)
        {
            if (connection is not null)
                server.Connections.Discard(connection);
            if (ex is EsbException)
                throw;
            if (context.RequestAborted.IsCancellationRequested)
                throw new OperationCanceledException("The caller has gone.", ex, context.RequestAborted);
            if (
                ex is OutsideException
                && connection is { IsReused: true, HasReceived: false, Silence.HasElapsed: false }
                && RelayCourse.MayRepeat(context)
            )
                return false;
            if (Explain(ex, server, connection) is { } failure)
                throw failure;
            throw;
        }
    }

    private static void Finish(HttpServer server, OutsideConnection connection, bool isReusable)
    {
        if (isReusable)
            server.Connections.Return(connection);
        else
            server.Connections.Discard(connection);
    }

    private EsbException? Explain(Exception exception, HttpServer server, OutsideConnection? connection)
    {
        if (connection?.Silence.HasElapsed == true)
            return new EsbException(
                "ESB-HTTP-TIMEOUT",
                $"The endpoint '{target.Name}' did not answer in time.",
                FaultKind.Timeout,
                exception
            );
        if (exception is BadAnswerException)
            return new EsbException(
                "ESB-HTTP-ANSWER",
                $"The answer of the endpoint '{target.Name}' cannot be passed on: {exception.Message}.",
                FaultKind.Outside,
                exception
            );
        return HttpFailures.Of(target.Name, server.Url, exception, CancellationToken.None);
    }
}
