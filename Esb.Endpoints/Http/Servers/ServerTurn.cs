namespace Esb.Endpoints.Http.Servers;

/// <summary>The servers that one request tries, each once: reachable ones first, then those that failed a moment ago. Not
/// thread-safe.</summary>
internal struct ServerTurn(HttpServer[] all, int start)
{
    private ulong _tried;

    /// <summary>Returns the next server; null after the last.</summary>
    public HttpServer? Next() => Next(mayRest: false) ?? Next(mayRest: true);

    private HttpServer? Next(bool mayRest)
    {
        for (var step = 0; step < all.Length; step++)
        {
            var index = (start + step) % all.Length;
            if ((_tried & (1UL << index)) != 0 || (all[index].IsResting && !mayRest))
                continue;
            _tried |= 1UL << index;
            return all[index];
        }

        return null;
    }
}
