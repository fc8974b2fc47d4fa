namespace Esb.IntegrationTests.EndToEnd.Soap;

/// <summary>Clients that are not ours call the sample's services by their WSDL.</summary>
public sealed class ForeignClientTests
{
    private SoapSampleHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost() => _host = await SoapSampleHost.StartAsync(CancellationToken.None);

    [OneTimeTearDown]
    public async Task StopHost() => await _host.DisposeAsync();

    [Test, CancelAfter(120_000)]
    public async Task Zeep_calls_both_versions_and_reads_faults(CancellationToken cancellationToken)
    {
        var lines = await ForeignProgram.RunAsync(
            "/usr/bin/python3",
            _host.Folder,
            "client.py",
            $"""
            import zeep
            client = zeep.Client('{_host.At("/calculator?wsdl")}')
            for port in ('CalculatorSoap11', 'CalculatorSoap12'):
                service = client.bind('CalculatorService', port)
                print(service.Add(a='1.5', b=2))
                try:
                    service.Divide(a=1, b=0)
                except zeep.exceptions.Fault as fault:
                    print(fault.code, fault.message, fault.detail[0].tag)
            print(zeep.Client('{_host.At("/customers?wsdl")}').service.GetCustomer(id=42).name)
            """,
            cancellationToken
        );

        Assert.That(
            lines,
            Is.EqualTo([
                "3.5",
                "soap:Client Nothing can be divided by zero. {urn:calculator}DivisionByZero",
                "3.5",
                "soap:Sender Nothing can be divided by zero. {urn:calculator}DivisionByZero",
                "Customer 42 & Co",
            ])
        );
    }

    [Test, Category("Thorough"), CancelAfter(120_000)]
    public async Task SoapClient_of_PHP_calls_both_versions_and_reads_faults(CancellationToken cancellationToken)
    {
        var lines = await ForeignProgram.RunAsync(
            "php",
            _host.Folder,
            "client.php",
            $$"""
            <?php
            foreach ([SOAP_1_1, SOAP_1_2] as $version) {
                $client = new SoapClient('{{_host.At("/calculator?wsdl")}}', ['soap_version' => $version, 'cache_wsdl' => WSDL_CACHE_NONE]);
                echo $client->Add(['a' => '1.5', 'b' => 2])->result, "\n";
                try { $client->Divide(['a' => 1, 'b' => 0]); }
                catch (SoapFault $fault) { echo $fault->faultcode, ' ', $fault->faultstring, ' ', $fault->detail->DivisionByZero->dividend, "\n"; }
            }
            $customers = new SoapClient('{{_host.At("/customers?wsdl")}}', ['cache_wsdl' => WSDL_CACHE_NONE]);
            echo $customers->GetCustomer(['id' => 42])->name, "\n";
            """,
            cancellationToken
        );

        Assert.That(
            lines,
            Is.EqualTo([
                "3.5",
                "soap:Client Nothing can be divided by zero. 1",
                "3.5",
                "soap:Sender Nothing can be divided by zero. 1",
                "Customer 42 & Co",
            ])
        );
    }

    [Test, Category("Thorough"), CancelAfter(120_000)]
    public async Task SOAP_Lite_of_Perl_calls_and_reads_faults(CancellationToken cancellationToken)
    {
        var lines = await ForeignProgram.RunAsync(
            "perl",
            _host.Folder,
            "client.pl",
            $$"""
            use SOAP::Lite;
            my $client = SOAP::Lite->proxy('{{_host.At(
                "/calculator"
            )}}')->default_ns('urn:calculator')->autotype(0)->on_action(sub { "urn:calculator/$_[1]" });
            my $answer = $client->call('Add', SOAP::Data->name(a => '1.5'), SOAP::Data->name(b => 2));
            print $answer->fault ? $answer->faultstring : $answer->result, "\n";
            $answer = $client->call('Divide', SOAP::Data->name(a => 1), SOAP::Data->name(b => 0));
            print $answer->faultcode, ' ', $answer->faultstring, "\n";
            """,
            cancellationToken
        );

        Assert.That(lines, Is.EqualTo(["3.5", "soap:Client Nothing can be divided by zero."]));
    }

    [Test, Category("Thorough"), CancelAfter(240_000)]
    public async Task Client_that_gSOAP_generates_calls_both_versions_and_reads_faults(CancellationToken cancellationToken)
    {
        var lines = await ForeignProgram.RunAsync(
            "sh",
            _host.Folder,
            "client.sh",
            $$"""
            set -e
            wsdl2h -c -o calculator.h '{{_host.At("/calculator?wsdl")}}' >log 2>&1 || { cat log; exit 1; }
            soapcpp2 -c -C -L -x -I/usr/share/gsoap/import calculator.h >log 2>&1 || { cat log; exit 1; }
            cat >client.c <<'END'
            #include "soapH.h"
            #include "CalculatorSoap11.nsmap"

            static void call(const char *url, int version)
            {
                struct soap *soap = soap_new();
                struct ns1__Operands operands = { "1.5", "2" };
                struct ns1__Result result;
                namespaces[0].ns = version == 1 ? "http://schemas.xmlsoap.org/soap/envelope/" : "http://www.w3.org/2003/05/soap-envelope";
                namespaces[1].ns = version == 1 ? "http://schemas.xmlsoap.org/soap/encoding/" : "http://www.w3.org/2003/05/soap-encoding";
                soap_set_namespaces(soap, namespaces);
                if (soap_call___ns1__Add(soap, url, NULL, &operands, &result) == SOAP_OK)
                    puts(result.result);
                else
                    soap_print_fault(soap, stdout);
                operands.a = "1";
                operands.b = "0";
                if (soap_call___ns1__Divide(soap, url, NULL, &operands, &result) == SOAP_OK)
                    puts(result.result);
                else {
                    struct SOAP_ENV__Detail *detail = version == 1 ? soap->fault->detail : soap->fault->SOAP_ENV__Detail;
                    printf("SOAP 1.%d: %s %s %s\n", soap->version, *soap_faultcode(soap), soap_fault_string(soap), detail->ns1__DivisionByZero->dividend);
                }
                soap_destroy(soap);
                soap_end(soap);
                soap_free(soap);
            }

            int main(int count, char **arguments)
            {
                call(arguments[1], 1);
                call(arguments[1], 2);
                return 0;
            }
            END
            gcc -w -o client client.c soapC.c soapClient.c -lgsoap
            ./client '{{_host.At("/calculator")}}'
            """,
            cancellationToken
        );

        Assert.That(
            lines,
            Is.EqualTo([
                "3.5",
                "SOAP 1.1: SOAP-ENV:Client Nothing can be divided by zero. 1",
                "3.5",
                "SOAP 1.2: SOAP-ENV:Sender Nothing can be divided by zero. 1",
            ])
        );
    }
}
