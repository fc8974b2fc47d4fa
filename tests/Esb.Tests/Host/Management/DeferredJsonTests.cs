using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Esb.Core.Endpoints;
using Esb.Host.Management;

namespace Esb.Tests.Host.Management;

public sealed class DeferredJsonTests
{
    private static readonly JsonSerializerOptions Plain = MakeOptions();
    private static readonly JsonSerializerOptions Deferred = MakeOptions(new DeferredJson());

    [Test]
    public void Answer_is_written_as_without_it()
    {
        var page = new Page<object>([new Answer("<é>", null, EndpointState.PausedByOperator, [1, 2]), "text", 3], "next");

        Assert.That(JsonSerializer.Serialize(page, Deferred), Is.EqualTo(JsonSerializer.Serialize(page, Plain)));
        Assert.That(
            JsonSerializer.Serialize(page.Items[0], Deferred),
            Is.EqualTo("""{"name":"<é>","state":"paused-by-operator","parts":[1,2]}""")
        );
    }

    [Test]
    public void Answer_is_read_as_without_it() =>
        Assert.That(
            JsonSerializer.Deserialize<Answer>("""{"name":"a","state":"running","parts":[7]}""", Deferred)!.Parts,
            Is.EqualTo(new[] { 7 })
        );

    [Test]
    public void Asking_for_a_type_does_not_prepare_its_members() =>
        Assert.That(
            (Plain.GetTypeInfo(typeof(Answer)).Kind, Deferred.GetTypeInfo(typeof(Answer)).Kind),
            Is.EqualTo((JsonTypeInfoKind.Object, JsonTypeInfoKind.None))
        );

    private static JsonSerializerOptions MakeOptions(params DeferredJson[] deferred)
    {
        var options = new JsonSerializerOptions();
        ManagementServer.Configure(options);
        foreach (var one in deferred)
            options.Converters.Insert(0, one);
        return options;
    }

    private sealed record Answer(string Name, string? Absent, EndpointState State, IReadOnlyList<int> Parts);
}
