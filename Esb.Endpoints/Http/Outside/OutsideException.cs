namespace Esb.Endpoints.Http.Outside;

/// <summary>The connection to the outside broke, or was closed; not that to the caller.</summary>
internal class OutsideException(string message, Exception? inner = null) : IOException(message, inner)
{
    public static OutsideException HungUp() => new("It hung up before its answer was complete.");
}
