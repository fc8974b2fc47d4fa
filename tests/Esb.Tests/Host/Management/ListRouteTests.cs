using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Esb.Host.Management;
using Esb.Host.Management.Description;

namespace Esb.Tests.Host.Management;

/// <summary>What all routes with a list have in common.</summary>
[CancelAfter(60_000)]
public sealed class ListRouteTests
{
    // As long as the configuration, the farm, or a limit of its own allows; one answer has all.
    private static readonly string[] Whole =
    [
        "/api/activities",
        "/api/configuration/versions", // the newest 100 are kept
        "/api/dead-letters/groups",
        "/api/endpoints",
        "/api/hosts",
        "/api/keys",
        "/api/marks",
        "/api/outboxes",
        "/api/topics",
        "/api/traces", // 16 at most
        "/api/workflows/batches", // the running ones and the last 20
        "/api/workflows/definitions",
    ];

    private RunningManagement _host = null!;

    [SetUp]
    public async Task Start() => _host = await RunningManagement.StartAsync(CancellationToken.None);

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    private static IEnumerable<ApiRoute> Lists() =>
        ApiCatalog.Described.Where(route =>
            route is { Method: "GET", Answer: { IsGenericType: true } answer } && answer.GetGenericTypeDefinition() == typeof(Page<>)
        );

    private static IEnumerable<string> PagedLists() => Lists().Select(route => route.Path).Except(Whole);

    [Test]
    public void Every_list_is_read_in_pages_or_is_short()
    {
        var unpaged = Lists()
            .Where(route => !route.Query.Any(one => one.Name == "after") || !route.Query.Any(one => one.Name == "limit"))
            .Select(route => route.Path);

        Assert.That(unpaged, Is.SubsetOf(Whole));
        Assert.That(PagedLists().Count(), Is.GreaterThanOrEqualTo(9));
    }

    [TestCaseSource(nameof(PagedLists))]
    public async Task Page_of_a_wrong_size_or_place_is_refused(string path, CancellationToken cancellationToken)
    {
        var route = path.Replace("{endpoint}", "shop", StringComparison.Ordinal)
            .Replace("{line}", "c-1", StringComparison.Ordinal)
            .Replace("{id}", $"{Guid.NewGuid()}", StringComparison.Ordinal)
            .Replace("{name}", "orders", StringComparison.Ordinal);

        foreach (var query in new[] { "limit=0", "limit=1001", "limit=1000000", "limit=-1", "limit=x", "limit=1&limit=2", "after=%27x" })
        {
            using var answer = await _host.Client.GetAsync($"{route}?{query}", cancellationToken);
            var problem = await answer.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest), $"{query}: {problem}");
            Assert.That((string?)problem!["code"], Is.EqualTo("ESB-API-PARAMETER"), query);
            Assert.That((string?)problem["detail"], Does.Contain(query.Split('=')[0]));
        }
    }
}
