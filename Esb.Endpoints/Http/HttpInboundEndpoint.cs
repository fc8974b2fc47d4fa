using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Endpoints.Intake;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>Answers the requests of one route, so many at once.</summary>
internal sealed partial class HttpInboundEndpoint(
    HttpInboundConfig config, HttpRoute route, IHttpExchange exchange, IntakeState state, TimeProvider time, ILogger<HttpInboundEndpoint> logger) : IInboundEndpoint
{
    private readonly CallGate _gate = new(config.MaxConcurrentCalls, time);
    private readonly CancellationTokenSource _aborting = new();

    public Task StartAsync(CancellationToken cancellationToken)
    {
        route.Open(HandleAsync);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        route.Close();
        await using var abort = cancellationToken.Register(static state => ((CancellationTokenSource)state!).Cancel(), _aborting);
        await _gate.DrainAsync(cancellationToken);
    }

    public ValueTask DisposeAsync()
    {
        _aborting.Dispose();
        return ValueTask.CompletedTask;
    }

    private async Task HandleAsync(HttpContext context)
    {
        try
        {
            await _gate.EnterAsync(context.RequestAborted);
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
        finally
        {
            _gate.Leave();
        }
    }

    [LoggerMessage(EventId = 2110, Level = LogLevel.Debug, Message = "Endpoint {Endpoint} turned a caller away ({Code})")]
    private partial void LogOverload(string endpoint, string code);
}
