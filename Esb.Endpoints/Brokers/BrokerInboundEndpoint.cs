using Esb.Core.Brokers;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Brokers;

/// <summary>Inbound endpoint that reads a queue of a broker.</summary>
/// <param name="desk">Handles the deliveries.</param>
/// <param name="answers">Sends answers; null if the endpoint gives none.</param>
/// <param name="createReader">Creates the reader of the queue, on the handler of its deliveries.</param>
internal sealed class BrokerInboundEndpoint(
    DeliveryDesk desk,
    AnswerSender? answers,
    Func<DeliveryDesk, CancellationToken, ValueTask<IBrokerReader>> createReader
) : IInboundEndpoint
{
    private IBrokerReader? _reader;

    public string? Reason => _reader?.Reason;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _reader = await createReader(desk, cancellationToken);
        await _reader.StartAsync(cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) => _reader?.StopAsync(cancellationToken) ?? Task.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        if (_reader is not null)
            await _reader.DisposeAsync();
        if (answers is not null)
            await answers.DisposeAsync();
    }
}
