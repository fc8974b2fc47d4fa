using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Tests.Endpoints.Http;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

/// <summary>Rows HDR of the catalogue of bad inputs at the entries of the management API: messages of a test client, and edited
/// messages.</summary>
[CancelAfter(30_000)]
public sealed class HeaderEntryTests
{
    private RunningManagement _host = null!;

    [SetUp]
    public async Task Start() => _host = await RunningManagement.StartAsync(CancellationToken.None);

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [
        TestCase("esb-key"),
        TestCase("ESB-Attempt"),
        TestCase("MT-Fault-Address"),
        TestCase("CC"),
        TestCase("bcc"),
        TestCase("X-Death"),
        TestCase("x-first-death-queue"),
        TestCase("x-delivery-count"),
        TestCase("x-dotnet-pub-seq-no")
    ]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public async Task Reserved_header_of_a_test_message_is_dropped(string name, CancellationToken cancellationToken)
    {
        var answer = await PublishAsync($"{name}: 9\r\nX-Shop: 7\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 202 "));
        Assert.That(Published().Headers, Is.EqualTo(new[] { KeyValuePair.Create("X-Shop", "7") }));
        Assert.That((Published().Key, Published().Attempt), Is.EqualTo(((string?)null, 0)));
    }

    [Test, Property("Case", "HDR-05")]
    public async Task Header_of_a_test_message_with_a_name_that_is_too_long_is_dropped(CancellationToken cancellationToken)
    {
        await PublishAsync($"X-{new string('n', 300)}: 1\r\nX-Shop: 7\r\n", cancellationToken);

        Assert.That(Published().Headers, Is.EqualTo(new[] { KeyValuePair.Create("X-Shop", "7") }));
    }

    [Test, Property("Case", "HDR-09")]
    public async Task Header_that_the_connection_names_does_not_become_one_of_a_test_message(CancellationToken cancellationToken)
    {
        await PublishAsync("Connection: x-hop\r\nX-Hop: 1\r\nX-Shop: 7\r\n", cancellationToken);

        Assert.That(Published().Headers, Is.EqualTo(new[] { KeyValuePair.Create("X-Shop", "7") }));
    }

    [
        TestCase("X-A: one\rX-Evil: two"),
        TestCase("X-A: one\0"),
        TestCase("X-A: one\r\n two"),
        TestCase("X A: one"),
        TestCase("Content-Type: text/plain\u0001"),
        Property("Case", "HTP-09")
    ]
    public async Task Test_message_with_a_header_that_breaks_out_of_its_line_is_refused(string line, CancellationToken cancellationToken)
    {
        var answer = await PublishAsync($"{line}\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 "));
        Assert.That(_host.Publisher.Published, Is.Empty);
    }

    [Test, Property("Case", "HDR-06")]
    public async Task Value_of_a_test_message_with_control_characters_is_dropped(CancellationToken cancellationToken)
    {
        await PublishAsync("X-A: one\u0001two\r\nX-Shop: 7\r\n", cancellationToken);

        Assert.That(Published().Headers, Is.EqualTo(new[] { KeyValuePair.Create("X-Shop", "7") }));
    }

    [
        TestCase("x a"),
        TestCase("x-a:"),
        TestCase("x-a\r\nx-evil"),
        TestCase("größe"),
        TestCase(""),
        TestCase("x-\0"),
        Property("Case", "HDR-05")
    ]
    public Task Edited_message_with_a_name_of_a_header_that_is_none_is_refused(string name, CancellationToken cancellationToken) =>
        AssertEditIsRefusedAsync(new { headers = new Dictionary<string, string> { [name] = "1" } }, "edit.headers", cancellationToken);

    [Test, Property("Case", "HDR-05")]
    public Task Edited_message_with_a_name_of_a_header_that_is_too_long_is_refused(CancellationToken cancellationToken) =>
        AssertEditIsRefusedAsync(
            new { headers = new Dictionary<string, string> { [new string('x', 300)] = "1" } },
            "edit.headers",
            cancellationToken
        );

    [
        TestCase("esb-key"),
        TestCase("ESB-Attempt"),
        TestCase("MT-Fault-Address"),
        TestCase("mt-host-info"),
        TestCase("cc"),
        TestCase("BCC"),
        TestCase("X-Death"),
        TestCase("x-first-death-queue"),
        TestCase("x-delivery-count")
    ]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public Task Edited_message_with_a_reserved_header_is_refused(string name, CancellationToken cancellationToken) =>
        AssertEditIsRefusedAsync(new { headers = new Dictionary<string, string> { [name] = "1" } }, "edit.headers", cancellationToken);

    [
        TestCase("one\r\nx-evil: two"),
        TestCase("one\n"),
        TestCase("one\0"),
        TestCase("one\u007f"),
        TestCase("one\u0085two"),
        Property("Case", "HDR-06")
    ]
    public async Task Edited_message_with_a_value_of_more_than_one_line_is_refused(string value, CancellationToken cancellationToken)
    {
        await AssertEditIsRefusedAsync(
            new { headers = new Dictionary<string, string> { ["x-a"] = value } },
            "edit.headers",
            cancellationToken
        );
        await AssertEditIsRefusedAsync(new { contentType = value }, "edit.contentType", cancellationToken);
    }

    private async Task AssertEditIsRefusedAsync(object edit, string parameter, CancellationToken cancellationToken)
    {
        var json = JsonSerializer.Serialize(new { ids = new[] { Guid.CreateVersion7() }, edit });
        using var response = await _host.Client.PostAsync(
            "/api/replays",
            new StringContent(json, Encoding.UTF8, "application/json"),
            cancellationToken
        );

        var problem = await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);
        Assert.That((response.StatusCode, (string?)problem!["code"]), Is.EqualTo((HttpStatusCode.BadRequest, "ESB-API-PARAMETER")), json);
        Assert.That((string?)problem["detail"], Does.StartWith($"{parameter}: "));
        Assert.That(_host.Services.GetRequiredService<IDeadLetterDesk>().ReceivedCalls(), Is.Empty);
    }

    private EsbMessage Published() => _host.Publisher.Published.Single().Message;

    private async Task<string> PublishAsync(string headers, CancellationToken cancellationToken)
    {
        using var connection = await RawConnection.OpenAsync(_host.Server.Address.Port, cancellationToken);
        await connection.WriteAsync(
            $"POST /api/topics/orders.new/messages HTTP/1.1\r\nHost: {_host.Server.Address.Authority}\r\nAuthorization: Bearer "
                + $"{_host.Key}\r\nContent-Length: 1\r\n{headers}\r\nx",
            cancellationToken
        );
        return await connection.ReadUntilAsync("}", cancellationToken);
    }
}
