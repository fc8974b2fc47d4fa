using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;

namespace Esb.Tests.Host.Management;

/// <summary>A message is sent to a topic.</summary>
[CancelAfter(30_000)]
public sealed class SendApiTests : ManagementFixture
{
    [Test]
    public async Task Sent_message_is_published_without_the_key(CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/api/topics/orders.new/messages?count=3")
        {
            Content = new StringContent("<order/>", Encoding.UTF8, "application/xml"),
        };
        request.Headers.Add("x-esb-key", Host.Key);
        request.Headers.Add("x-shop", "7");

        using var response = await Client.SendAsync(request, cancellationToken);
        var receipt = await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That((bool?)receipt!["durable"], Is.False);
        Assert.That(
            Host.Publisher.Published.Select(published => published.Subject),
            Is.EqualTo(new[] { "orders.new", "orders.new", "orders.new" })
        );
        Assert.That(Host.Publisher.Published.Select(published => published.Message.Id), Is.Unique);
        var headers = Host.Publisher.Published[0].Message.Headers;
        Assert.That(headers["x-shop"], Is.EqualTo("7"));
        Assert.That(headers["x-esb-key"], Is.Null);
    }

    [
        TestCase("nowhere.new", 404, "ESB-API-NOTFOUND"),
        TestCase("orders..new", 400, "ESB-API-PARAMETER"),
        TestCase("orders.new/messages?count=1001&x=", 400, "ESB-API-UNKNOWN")
    ]
    public async Task Message_for_no_topic_is_refused(string subject, int status, string code, CancellationToken cancellationToken)
    {
        var path = subject.Contains('?') ? subject : $"{subject}/messages";
        using var response = await Client.PostAsync($"/api/topics/{path}", new StringContent("x"), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(status));
        Assert.That(await Problem.ReadCodeAsync(response, cancellationToken), Is.EqualTo(code));
    }

    [Test, Property("Case", "API-11")]
    public async Task Body_above_the_limit_is_refused(CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync(
            "/api/topics/orders.new/messages",
            new StringContent(new string('x', 1025)),
            cancellationToken
        );

        Assert.That((int)response.StatusCode, Is.EqualTo(413));
        Assert.That(Host.Publisher.Published, Is.Empty);
    }
}
