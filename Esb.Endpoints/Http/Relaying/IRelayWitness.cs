namespace Esb.Endpoints.Http.Relaying;

/// <summary>Hears of the answer of a relay before the caller has the end of it.</summary>
internal interface IRelayWitness
{
    /// <param name="status">The status of the answer.</param>
    ValueTask EndingAsync(int status);
}
