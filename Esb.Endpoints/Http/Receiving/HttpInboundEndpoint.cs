using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Delivery.Intake;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Listening;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Answers the requests of one route, up to a maximum concurrency.</summary>
/// <param name="access">The access check; null if anyone may call.</param>
internal sealed partial class HttpInboundEndpoint(
    ListeningEndpointConfig config,
    HttpRoute route,
    IHttpExchange exchange,
    EndpointAccess? access,
    Admission admission,
    IntakeState state,
    ILogger<HttpInboundEndpoint> logger
) : IInboundEndpoint
{
    private readonly CancellationTokenSource _aborting = new();
    private RequestDelegate? _handler;
    private volatile bool _isClosed;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        route.Open(_handler ??= HandleAsync, exchange.IsBrief && access is null);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_handler is { } handler)
            route.Close(handler);
        _isClosed = true;
        await using var abort = cancellationToken.Register(static state => ((CancellationTokenSource)state!).Cancel(), _aborting);
        await admission.DrainAsync(cancellationToken);
    }

    public ValueTask DisposeAsync()
    {
        _aborting.Dispose();
        return ValueTask.CompletedTask;
    }

    private async Task HandleAsync(HttpContext context)
    {
        if (!config.KeepAlive && !HttpProtocol.IsHttp2(context.Request.Protocol))
            CloseAfterwards(context);
        if (access is not null)
            await access.EnterAsync(context); // before taking a slot; strangers could fill them
        try
        {
            await admission.EnterAsync(context.RequestAborted);
        }
        catch (EsbException) when (_isClosed)
        {
            await route.HandleAsync(context); // it was on its way here while another endpoint took the route
            return;
        }
        catch (EsbException ex)
        {
            state.Count(IntakeOutcomes.Refused);
            LogOverload(config.Name, ex.Code);
            throw;
        }

        try
        {
            await exchange.HandleAsync(context, _aborting.Token);
        }
        catch (OperationCanceledException ex) when (_aborting.IsCancellationRequested)
        {
            throw HttpRoute.NotRunning(ex);
        }
        finally
        {
            admission.Leave();
        }
    }

    // Applied when the answer starts, whichever answer it is by then: a failed one starts anew.
    private static void CloseAfterwards(HttpContext context) =>
        context.Response.OnStarting(
            static state =>
            {
                ((HttpContext)state).Response.Headers.Connection = "close";
                return Task.CompletedTask;
            },
            context
        );

    [LoggerMessage(EventId = 2110, Level = LogLevel.Debug, Message = "Endpoint {Endpoint} turned a caller away ({Code})")]
    private partial void LogOverload(string endpoint, string code);
}
