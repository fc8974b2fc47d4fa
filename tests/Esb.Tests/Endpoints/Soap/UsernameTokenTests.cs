using Esb.Endpoints.Soap.Security;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Soap;

/// <summary>User name tokens of WS-Security, at a service whose clock stands still.</summary>
[CancelAfter(30_000)]
public sealed class UsernameTokenTests
{
    private const string Password = "correct horse battery";
    private const string Parties = """ , "parties": { "shop": { "users": [{ "user": "shop", "password": "${env:PASSWORD}" }] } } """;

    private static readonly DateTimeOffset Now = new ManualTime().GetUtcNow();

    private SoapBus _bus = null!;

    [SetUp]
    public async Task StartBus()
    {
        _bus = new SoapBus(new ManualTime());
        _bus.Http.Variables["PASSWORD"] = Password;
        await _bus.StartAsync(settings: """ "authentication": ["username-token"] """, more: Parties);
    }

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test]
    public async Task Password_and_digest_make_the_caller_a_party(CancellationToken cancellationToken)
    {
        var plain = await _bus.CallAsync(SoapBus.Order, cancellationToken, Plain("shop", Password));
        var digest = await _bus.CallAsync(SoapBus.Order, cancellationToken, Digest("shop", Password, Now));

        Assert.That((plain.Status, digest.Status), Is.EqualTo((200, 200)), digest.Text);
        Assert.That(_bus.Messages.Select(message => message.Party), Is.EqualTo(["shop", "shop"]));
    }

    [Test]
    public async Task Wrong_token_gets_one_text_for_all_reasons_and_reaches_no_process(CancellationToken cancellationToken)
    {
        string[] headers =
        [
            "",
            Plain("shop", "wrong"),
            Plain("nobody", Password),
            Plain("", ""),
            Digest("shop", "wrong", Now),
            Digest("nobody", "", Now),
            Digest("shop", Password, Now)
                .Replace("<u:Created>", "<u:Later>", StringComparison.Ordinal)
                .Replace("</u:Created>", "</u:Later>", StringComparison.Ordinal),
            Plain("shop", Password) + Plain("shop", Password),
            Plain("shop", Password)
                .Replace(
                    "</s:Security>",
                    "<d:Signature xmlns:d='http://www.w3.org/2000/09/xmldsig#'/></s:Security>",
                    StringComparison.Ordinal
                ),
        ];

        foreach (var header in headers)
        {
            var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, header);
            Assert.That(
                (answer.Status, answer.FaultCode, answer.Code, answer.FaultReason),
                Is.EqualTo((500, "soap:Client", "ESB-SOAP-SECURITY", "The caller has not proved who it is.")),
                header
            );
        }

        Assert.That(_bus.Messages, Is.Empty);
    }

    [Test, Property("Case", "SOP-08")]
    public async Task Token_that_comes_again_is_refused(CancellationToken cancellationToken)
    {
        var header = Digest("shop", Password, Now);

        var first = await _bus.CallAsync(SoapBus.Order, cancellationToken, header);
        var again = await _bus.CallAsync(SoapBus.Order, cancellationToken, header);
        var other = await _bus.CallAsync(SoapBus.Order, cancellationToken, Digest("shop", Password, Now, nonce: 2));

        Assert.That((first.Status, again.Code, other.Status), Is.EqualTo((200, "ESB-SOAP-SECURITY", 200)));
    }

    [TestCase(-6), TestCase(6)]
    [Property("Case", "SOP-08")]
    public async Task Token_of_another_time_is_refused(int minutes, CancellationToken cancellationToken)
    {
        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, Digest("shop", Password, Now.AddMinutes(minutes)));

        Assert.That((answer.Code, answer.FaultReason), Is.EqualTo(("ESB-SOAP-SECURITY", "The caller has not proved who it is.")));
    }

    [TestCase(-6, false), TestCase(1, true)]
    [Property("Case", "SOP-08")]
    public async Task Time_stamp_that_has_expired_is_refused(int minutes, bool isTaken, CancellationToken cancellationToken)
    {
        var stamp =
            $"<u:Timestamp "
            + $"xmlns:u='{WssNames.Wsu}'><u:Created>{Now.AddMinutes(-10):O}</u:Created><u:Expires>{Now.AddMinutes(minutes):O}</u:Expires></u:Timestamp>";

        var answer = await _bus.CallAsync(
            SoapBus.Order,
            cancellationToken,
            Plain("shop", Password).Replace("<s:UsernameToken>", $"{stamp}<s:UsernameToken>", StringComparison.Ordinal)
        );

        Assert.That(answer.Status == 200, Is.EqualTo(isTaken), answer.Text);
    }

    [Test]
    public async Task Guessing_is_slowed(CancellationToken cancellationToken)
    {
        var statuses = new List<int>();
        for (var attempt = 0; attempt < 25; attempt++)
            statuses.Add((await _bus.CallAsync(SoapBus.Order, cancellationToken, Plain("shop", $"{attempt}"))).Status);

        Assert.That(statuses, Has.Some.EqualTo(429));
        Assert.That(statuses[0], Is.EqualTo(500));
    }

    private static string Plain(string user, string password) =>
        Header(user, $"<s:Password Type='{WssNames.PasswordText}'>{password}</s:Password>");

    private static string Digest(string user, string password, DateTimeOffset created, byte nonce = 1)
    {
        var text = created.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", System.Globalization.CultureInfo.InvariantCulture);
        var digest = Convert.ToBase64String(PasswordDigest.Of([nonce, 7], text, password));
        return Header(
            user,
            $"<s:Password "
                + $"Type='{WssNames.PasswordDigest}'>{digest}</s:Password><s:Nonce>{Convert.ToBase64String([nonce, 7])}</s:Nonce><u:Created>{text}</u:Created>"
        );
    }

    private static string Header(string user, string rest) =>
        $"<s:Security xmlns:s='{WssNames.Wsse}' xmlns:u='{WssNames.Wsu}' "
        + $"e:mustUnderstand='1'><s:UsernameToken><s:Username>{user}</s:Username>{rest}</s:UsernameToken></s:Security>";
}
