namespace Esb.Endpoints.Delivery;

/// <summary>What ends a delivery before its time.</summary>
/// <param name="Waiting">Cancelled when what only waits is to go back to its queue: the endpoint stops, or the message has been held long enough.</param>
/// <param name="Aborting">Cancelled when also what is being sent is to end.</param>
internal readonly record struct DeliveryTokens(CancellationToken Waiting, CancellationToken Aborting);
