using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.IntegrationTests.Faults.Network;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A message that has arrived behind an adapter.</summary>
/// <param name="Id">The same for all copies of a message.</param>
/// <param name="Number">The number of the item.</param>
internal sealed record Arrival(string Id, int Number);

/// <summary>An external system of one test, reached through a proxy, and the endpoint <c>partner</c> that uses it. Items have numbers, and
/// bodies such as <c>{"number":7}</c>.</summary>
internal abstract partial class AdapterSystem : IAsyncDisposable
{
    /// <summary>The variable of the credential that the system accepts.</summary>
    public const string Right = "ADAPTER_RIGHT";

    /// <summary>The variable of one that it refuses.</summary>
    public const string Wrong = "ADAPTER_WRONG";

    private readonly Dictionary<string, string> _variables = [];

    /// <summary>A name that only this test uses.</summary>
    public string Id { get; } = Guid.NewGuid().ToString("N")[..10];

    /// <summary>True if items come from the system.</summary>
    public abstract bool IsInbound { get; }

    /// <summary>True if the system has connections, which can be cut.</summary>
    public virtual bool IsRemote => true;

    /// <summary>True if a credential that it refuses is an answer to the message, which is then a dead letter to be replayed.</summary>
    public virtual bool GivesRefusedUp => false;

    /// <summary>True to have a server that can be killed. To be set before the start.</summary>
    public bool IsToBeKilled { get; set; }

    /// <summary>True if items are put in by the test, one by one.</summary>
    public virtual bool TakesItems => true;

    /// <summary>Items that an inbound endpoint works on at once.</summary>
    public int AtOnce { get; set; } = 4;

    /// <summary>The media type of bodies that are posted for it.</summary>
    public virtual string ContentType => "application/json";

    /// <summary>True if items pass in their order even where one has to be tried again.</summary>
    public virtual bool KeepsOrder => IsRemote;

    /// <summary>Stands between the host and the system.</summary>
    public LocalProxy Proxy { get; private set; } = null!;

    /// <summary>The environment of the host.</summary>
    public IReadOnlyDictionary<string, string> Variables => _variables;

    /// <summary>The settings of the endpoint, with its type.</summary>
    /// <param name="credential">The variable of its credential.</param>
    public abstract string Endpoint(string credential);

    /// <summary>Further sections, with a comma behind each.</summary>
    /// <param name="credential">The variable of the credential.</param>
    public virtual string Sections(string credential) => "";

    public async Task StartAsync()
    {
        if (await PrepareAsync() is { } port)
            Proxy = new LocalProxy(port);
        if (!IsRemote)
            return;
        (_variables[Right], _variables[Wrong]) = Credentials();
    }

    /// <summary>Ends the server as a crash does.</summary>
    public virtual Task KillAsync() => throw new NotSupportedException();

    /// <summary>Starts the server that was killed, on what it has kept.</summary>
    public virtual Task StartAgainAsync() => throw new NotSupportedException();

    /// <summary>Returns true if it is told that the system cannot be used: by the endpoint, or to whoever calls it.</summary>
    /// <param name="endpoint">The endpoint, as the API shows it.</param>
    public virtual bool IsTold(JsonElement endpoint) =>
        endpoint.TryGetProperty("reason", out var reason) && reason.GetString() is { Length: > 0 };

    /// <summary>Returns a message that has arrived.</summary>
    /// <param name="id">Its id, or the name of the file that it was written to.</param>
    /// <param name="body">Its body.</param>
    public virtual Arrival ArrivalOf(string id, string body) => new(id, NumberIn(body));

    /// <summary>Puts an item where the endpoint takes it.</summary>
    public virtual Task PutAsync(int number, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <summary>Puts the first items there, all of them before any is taken.</summary>
    public virtual Task PutManyAsync(int count, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <summary>Returns what the endpoint has delivered so far, in that order.</summary>
    public virtual Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

    public async ValueTask DisposeAsync()
    {
        if (Proxy is not null)
            await Proxy.DisposeAsync();
        await StopAsync();
    }

    /// <summary>Starts the system, and returns its port; null if it has none.</summary>
    protected abstract Task<int?> PrepareAsync();

    /// <summary>A credential that the system accepts, and one that it refuses.</summary>
    protected virtual (string Right, string Wrong) Credentials() => ("", "");

    protected abstract Task StopAsync();

    /// <summary>Adds to the environment of the host.</summary>
    protected void SetVariable(string name, string value) => _variables[name] = value;

    /// <summary>Returns the body of an item.</summary>
    public virtual string BodyOf(int number) => $$"""{"number":{{number}}}""";

    /// <summary>Returns the number in a body.</summary>
    public static int NumberIn(string body) =>
        int.Parse(Number().Match(body).Groups[1].Value, System.Globalization.CultureInfo.InvariantCulture);

    [GeneratedRegex(@"number\W{1,3}(\d+)")]
    private static partial Regex Number();
}
