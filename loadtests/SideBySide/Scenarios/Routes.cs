namespace SideBySide.Scenarios;

/// <summary>Whether routing by content routes: each document must reach the back end of its first order.</summary>
internal static class Routes
{
    /// <returns>What went astray, or null.</returns>
    public static async Task<string?> FlawAsync(string url, OrderDocuments documents, CancellationToken cancellationToken)
    {
        foreach (var symbol in (string[])["IBM", "MSFT", "SUN"])
        {
            var body = await File.ReadAllBytesAsync(documents.Beginning(symbol), cancellationToken);
            var answer = await Http.PostAsync(url, body, "text/xml", cancellationToken);
            if (answer.ServedBy != $"/echo-{symbol.ToLowerInvariant()}")
            {
                return $"an order for {symbol} was answered with {answer.Status} by {answer.ServedBy ?? "nobody"}";
            }
        }

        return null;
    }
}
